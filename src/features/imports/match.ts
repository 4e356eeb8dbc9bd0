import type { Tx } from '../../kernel/context.ts'
import { valueAt } from '../../kernel/resource.ts'
import { allOf, type Fragment, raw } from '../../kernel/sql.ts'
import type { Target } from './target.ts'
import type { Task } from './task.ts'

/** The record that a row is about: one that is there, one that an earlier row of a dry run would have made, or several. */
export type Match = { id: string } | 'earlier row' | 'several'

/** The names by which a row can be about a record that is there, surest first. */
export function keysOf(target: Target, { body, restored }: Task): string[] {
  const same = sameKey(target, body)
  return [
    ...(restored.id ? [`id ${restored.id}`] : []),
    ...(typeof body.external_id === 'string' ? [`external_id ${body.external_id}`] : []),
    ...(same === undefined ? [] : [same]),
  ]
}

function sameValues({ sameWhen }: Target, record: object): string[] | undefined {
  const values = sameWhen?.fields.map((field) => valueAt(record, field.split('.')))
  if (!values?.every((value) => typeof value === 'string' && value !== '')) return undefined
  return values.map((value) => (sameWhen!.anyCase ? String(value).toLowerCase() : String(value)))
}

function sameKey(target: Target, record: object): string | undefined {
  const values = sameValues(target, record)
  return values && `same ${JSON.stringify(values)}`
}

/**
 * Rows in groups, such that no two of a group can be about the same record: a second row about a
 * record then finds what the first one made of it.
 */
export function waves(target: Target, tasks: Task[]): Task[][] {
  const groups: Task[][] = []
  const lastGroup = new Map<string, number>()
  for (const task of tasks) {
    const keys = keysOf(target, task)
    const group = Math.max(-1, ...keys.map((key) => lastGroup.get(key) ?? -1)) + 1
    for (const key of keys) lastGroup.set(key, group)
    const members = groups[group] ?? []
    groups[group] = [...members, task]
  }
  return groups
}

/** At most four statements, whatever the number of rows. `dryRunOf` names the import whose earlier rows count too. */
export async function findMatches(
  tx: Tx,
  target: Target,
  tasks: Task[],
  dryRunOf: string | undefined,
): Promise<Map<Task, Match>> {
  const known = new Map<string, Match>()
  const keys = tasks.map((task) => keysOf(target, task))
  const [ids, externalIds, sames, earlier] = await Promise.all([
    byId(tx, target, tasks),
    byExternalId(tx, target, tasks),
    bySame(tx, target, tasks),
    dryRunOf === undefined ? [] : earlierKeys(tx, dryRunOf, keys.flat()),
  ])
  for (const key of earlier) known.set(key, 'earlier row')
  for (const { id } of ids) known.set(`id ${id}`, { id })
  for (const { id, name } of externalIds) known.set(`external_id ${name}`, { id })
  for (const { id, values } of sames) {
    const key = `same ${JSON.stringify(values)}`
    known.set(key, known.has(key) ? 'several' : { id })
  }
  const matches = new Map<Task, Match>()
  for (const [at, task] of tasks.entries()) {
    const match = keys[at]!.map((key) => known.get(key)).find((one) => one !== undefined)
    if (match) matches.set(task, match)
  }
  return matches
}

const visibleTo = (tx: Tx, target: Target): Fragment => {
  const visible = target.visible?.(tx)
  return visible ? tx.sql`and ${visible}` : tx.sql``
}

async function byId(tx: Tx, target: Target, tasks: Task[]): Promise<{ id: string }[]> {
  const ids = tasks.flatMap(({ restored }) => restored.id ?? [])
  if (ids.length === 0) return []
  const { sql, workspaceId } = tx
  return sql<{ id: string }[]>`
    select id from ${raw(sql, target.resource.table)}
    where workspace_id = ${workspaceId} and id = any(${ids}) ${visibleTo(tx, target)}`
}

async function byExternalId(tx: Tx, target: Target, tasks: Task[]): Promise<{ id: string; name: string }[]> {
  const names = tasks.flatMap(({ body }) => (typeof body.external_id === 'string' ? body.external_id : []))
  if (names.length === 0) return []
  const { sql, workspaceId } = tx
  return sql<{ id: string; name: string }[]>`
    select id, external_id as name from ${raw(sql, target.resource.table)}
    where workspace_id = ${workspaceId} and external_id = any(${names}) ${visibleTo(tx, target)}`
}

async function bySame(tx: Tx, target: Target, tasks: Task[]): Promise<{ id: string; values: string[] }[]> {
  const wanted = tasks.flatMap(({ body }) => {
    const values = sameValues(target, body)
    return values ? [values] : []
  })
  if (wanted.length === 0) return []
  const { sql, workspaceId } = tx
  const { fields, anyCase } = target.sameWhen!
  const columns = fields.map((field) => (anyCase ? `lower(${field})` : field))
  // Each column by itself, so that an index is used whatever PostgreSQL knows of the table; what fits in
  // one column and not in the other falls out when keys are compared.
  const conditions = columns.map(
    (column, at) => sql`${raw(sql, column)} = any(${[...new Set(wanted.map((values) => values[at]!))]})`,
  )
  return sql<{ id: string; values: string[] }[]>`
    select id, array[${raw(sql, columns.join(', '))}] as values from ${raw(sql, target.resource.table)}
    where workspace_id = ${workspaceId} and ${allOf(sql, conditions)} ${visibleTo(tx, target)}`
}

async function earlierKeys({ sql, workspaceId }: Tx, importId: string, keys: string[]): Promise<string[]> {
  const rows = await sql`
    select key from import_keys
    where workspace_id = ${workspaceId} and import_id = ${importId} and key = any(${keys})`
  return rows.map((row) => row.key)
}

export async function rememberKeys(
  { sql, workspaceId }: Tx,
  importId: string,
  keys: string[],
): Promise<void> {
  if (keys.length === 0) return
  await sql`
    insert into import_keys (workspace_id, import_id, key)
    select ${workspaceId}, ${importId}, key from unnest(${keys}::text[]) as key
    on conflict do nothing`
}
