import type { Versioned } from '../../events/change.ts'
import { type Tx, transaction, type Urls } from '../../kernel/context.ts'
import { conflict } from '../../kernel/errors.ts'
import { raw } from '../../kernel/sql.ts'
import { requireKept } from './expire.ts'
import { findImport } from './queries.ts'
import type { Import } from './schema.ts'
import { getImport } from './service.ts'
import type { Changed, Target } from './target.ts'
import { targetOf } from './targets.ts'

/** Takes back all that an import did, or nothing: it is refused as soon as one record has been touched since. */
export function revertImport(tx: Tx, id: string, urls: Urls): Promise<Versioned<Import>> {
  return transaction(tx, async (tx) => {
    const { record } = await getImport(tx, id, true)
    requireRevertible(record)
    requireKept(tx, record, 'What it did')
    const target = targetOf(record.resource)
    await refuseTouched(tx, target, id)
    const changed = await changedBy(tx, id)
    const during = { from: record.created_at, to: record.finished_at! }
    const obstacle = await target.undoingFails?.(tx, changed, during)
    if (obstacle) throw conflict(`${obstacle} Nothing was taken back.`)
    for (const { id, previous } of changed)
      await (target.restore?.(tx, id, previous) ?? target.update(tx, id, previous, urls))
    await deleteCreated(tx, target, id)
    await tx.sql`
      update imports set status = 'reverted', finished_at = ${tx.now}, version = version + 1
      where workspace_id = ${tx.workspaceId} and id = ${id}`
    return (await findImport(tx, id))!
  })
}

function requireRevertible({ status, dry_run }: Import): void {
  if (dry_run) throw conflict('A dry run has written nothing that could be taken back.')
  if (status === 'queued' || status === 'running') throw conflict('Cancel the import first.')
  if (status === 'reverted') throw conflict('This import has been taken back already.')
}

async function refuseTouched(tx: Tx, target: Target, importId: string): Promise<void> {
  const { sql, workspaceId } = tx
  // Whoever is changing one of them right now comes first, and is seen.
  await sql`
    select from ${raw(sql, target.resource.table)} where workspace_id = ${workspaceId} and id in (
      select record_id from import_records where workspace_id = ${workspaceId} and import_id = ${importId})
    order by id for no key update`
  const rows = await sql`
    select i.record_id as id, i.previous is null as made, t.version is distinct from i.version as touched
    from (
      select distinct on (record_id) record_id, version,
        first_value(previous) over (partition by record_id order by row) as previous
      from import_records where workspace_id = ${workspaceId} and import_id = ${importId}
      order by record_id, row desc) i
    left join ${raw(sql, target.resource.table)} t on t.workspace_id = ${workspaceId} and t.id = i.record_id`
  const touched = rows.filter((row) => row.touched).map((row) => row.id as string)
  const made = rows.filter((row) => row.made).map((row) => row.id as string)
  const inUse = made.length > 0 ? await target.inUse(tx, made) : []
  const blocking = [...new Set([...touched, ...inUse])]
  if (blocking.length === 0) return
  const examples = blocking.slice(0, 3).join(', ')
  throw conflict(
    `${blocking.length} of its records have been changed, deleted or used since, such as ${examples}. Nothing was taken back.`,
  )
}

// Latest change first: a record that the file named twice goes back step by step.
async function changedBy({ sql, workspaceId }: Tx, importId: string): Promise<Changed[]> {
  return sql<Changed[]>`
    select record_id as id, previous from import_records
    where workspace_id = ${workspaceId} and import_id = ${importId} and previous is not null
    order by row desc`
}

async function deleteCreated({ sql, workspaceId }: Tx, target: Target, importId: string): Promise<void> {
  await sql`
    delete from ${raw(sql, target.resource.table)} where workspace_id = ${workspaceId} and id in (
      select record_id from import_records
      where workspace_id = ${workspaceId} and import_id = ${importId} and previous is null)`
}
