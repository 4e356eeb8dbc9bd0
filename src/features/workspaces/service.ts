import type { Versioned } from '../../events/change.ts'
import { type Tx, transaction } from '../../kernel/context.ts'
import { invalid } from '../../kernel/errors.ts'
import { requireVersion } from '../../kernel/etag.ts'
import { raw } from '../../kernel/sql.ts'
import { WorkspaceRecord, type WorkspaceUpdate } from './schema.ts'

export { findSandbox, insertWorkspacePair, workspaceOf } from './queries.ts'

/** The workspace the caller acts in. */
export async function getWorkspace(
  { sql, workspaceId }: Tx,
  { lock = false } = {},
): Promise<Versioned<WorkspaceRecord>> {
  const [row] = await sql`
    select ${raw(sql, WorkspaceRecord.selectList)}, version from workspaces where id = ${workspaceId}
    ${lock ? sql`for update` : sql``}`
  return { record: WorkspaceRecord.fromRow(row!), version: row!.version }
}

export function updateWorkspace(
  tx: Tx,
  patch: WorkspaceUpdate,
  ifMatch: string | undefined,
): Promise<Versioned<WorkspaceRecord>> {
  return transaction(tx, async (tx) => {
    const { sql, workspaceId, now } = tx
    const found = await getWorkspace(tx, { lock: true })
    requireVersion(ifMatch, found.version)
    const { after, previous, problems } = WorkspaceRecord.merge(found.record, patch, found.record)
    if (problems.length > 0) throw invalid(problems)
    if (Object.keys(previous).length === 0) return found
    const { name, api_access, currency } = after
    await sql`
      update workspaces set name = ${name}, api_access = ${api_access}, currency = ${currency},
        updated_at = ${now}, version = version + 1
      where id = ${workspaceId}`
    return { record: { ...after, updated_at: now.toISOString() }, version: found.version + 1 }
  })
}
