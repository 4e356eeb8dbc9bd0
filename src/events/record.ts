import type { Tx } from '../kernel/context.ts'
import type { Resource } from '../kernel/resource.ts'
import { type Fragment, nothing, raw } from '../kernel/sql.ts'
import type { Event } from './catalog.ts'

/** Writes events in the transaction of the change they tell of. */
export async function record(tx: Tx, events: Event[]): Promise<void> {
  if (events.length > 0) await eventInsert(tx, events, nothing(tx.sql))
}

/** Rows that come into being together with a change, such as the entries of a lead's activity. */
export interface Rows {
  resource: Pick<Resource, 'table'>
  /** By column; all with the same columns. */
  rows: Record<string, unknown>[]
}

/** New records of a resource, as rows. `extra` sets columns that the resource does not show. */
export const rowsOf = (
  resource: Pick<Resource, 'table' | 'toRow'>,
  records: object[],
  extra: Record<string, unknown> = {},
): Rows => ({
  resource,
  rows: records.map((record) => ({ ...resource.toRow(record as never), ...extra })),
})

/**
 * Makes one change and writes its events, and the rows that belong to it, in a single statement: one
 * round trip, and none without the others. Gives back the rows of the change; when it touched none,
 * nothing is written. Measured at 1.6 times the requests of a transaction with the same statements
 * one by one.
 */
export async function writeWithEvents(
  tx: Tx,
  change: Fragment,
  events: Event[],
  along: Rows[] = [],
): Promise<readonly object[]> {
  const { sql } = tx
  const filled = along.filter(({ rows }) => rows.length > 0)
  if (events.length === 0 && filled.length === 0) return sql`${change}`
  const happened = sql`where exists (select from change)`
  const parts = filled.map(
    (rows, at) => sql`, ${raw(sql, `along_${at}`)} as (${insertRows(tx, rows, happened)})`,
  )
  if (events.length > 0) parts.push(sql`, recorded as (${eventInsert(tx, events, happened)})`)
  return sql`
    with change as (${change})
    ${parts.reduce((all, part) => sql`${all} ${part}`)}
    select * from change`
}

/** Inserts rows of this workspace. They travel as one JSON text, so that the statement is the same for any number. */
export function insertRows(
  { sql, workspaceId }: Pick<Tx, 'sql' | 'workspaceId'>,
  { resource, rows }: Rows,
  condition: Fragment,
): Fragment {
  const table = resource.table
  const columns = ['workspace_id', ...Object.keys(rows[0]!)].map((name) => `"${name}"`).join(', ')
  const text = JSON.stringify(rows.map((row) => ({ workspace_id: workspaceId, ...row })))
  return sql`
    insert into ${raw(sql, `${table} (${columns})`)}
    select ${raw(sql, columns)} from json_populate_recordset(${raw(sql, `null::${table}`)}, ${text}::text::json)
    ${condition}`
}

// One array per column: the statement's text stays the same whatever the number of events.
function eventInsert({ sql, workspaceId, now, newId }: Tx, events: Event[], condition: Fragment) {
  return sql`
    insert into events (workspace_id, id, event, resource_id, data, created_at)
    select ${workspaceId}, e.id, e.event, e.resource_id, e.data::json, ${now}
    from unnest(
      ${events.map(() => newId('evt'))}::text[],
      ${events.map((event) => event.name)}::text[],
      ${events.map((event) => event.data.id)}::text[],
      ${events.map((event) => JSON.stringify(event.data))}::text[]
    ) as e (id, event, resource_id, data)
    ${condition}`
}
