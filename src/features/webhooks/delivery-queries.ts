import type { Tx } from '../../kernel/context.ts'
import type { Outcome } from '../../kernel/courier.ts'
import { anyOf, type Filters } from '../../kernel/filters.ts'
import { listPage, type Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { raw } from '../../kernel/sql.ts'
import { Delivery, deliveredEvents, deliveryStatuses, testEvent } from './delivery-schema.ts'

export const deliveryFilters: Filters = {
  status: anyOf(
    Delivery.column('status'),
    'delivery_status',
    deliveryStatuses,
    'Only deliveries with this status.',
  ),
  event: anyOf(Delivery.column('event'), 'text', deliveredEvents, 'Only deliveries of this event.'),
}

/** What was tried at least once; the rest is on its way. */
export function listDeliveries(tx: Tx, webhookId: string, query: ListQuery): Promise<Page<Delivery>> {
  const { sql } = tx
  return listPage(
    tx,
    {
      resource: Delivery,
      filters: deliveryFilters,
      select: raw(sql, Delivery.selectList),
      where: [sql`deliveries.webhook_id = ${webhookId} and deliveries.status is not null`],
      seenBy: webhookId,
      fromRow: Delivery.fromRow,
    },
    query,
  )
}

export async function findDelivery(
  { sql, workspaceId }: Tx,
  webhookId: string,
  id: string,
): Promise<Delivery | undefined> {
  const [row] = await sql`
    select ${raw(sql, Delivery.selectList)} from deliveries
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and id = ${id} and status is not null`
  return row && Delivery.fromRow(row)
}

/**
 * Puts failed deliveries at the head of the queue, with their whole schedule before them. What a
 * worker is trying at this moment is left to it. Returns the number of them.
 */
export async function requeue(
  { sql, workspaceId, now }: Tx,
  webhookId: string,
  which: { id: string } | { since: Date },
): Promise<number> {
  const chosen = 'id' in which ? sql`id = ${which.id}` : sql`created_at >= ${which.since}`
  const { count } = await sql`
    update deliveries set due_at = ${now}, next_retry = ${now}, step = 0, resume_at = null
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and ${chosen}
      and status = 'failed' and event <> ${testEvent}
      and (leased_until is null or leased_until < clock_timestamp())`
  return count
}

/** Keeps a test with what became of it, and counts it. */
export async function insertTest(
  { sql, workspaceId, now }: Tx,
  delivery: { id: string; webhookId: string; eventId: string },
  { attempt, earlier }: Outcome,
): Promise<boolean> {
  const delivered = attempt.error === null
  const row = {
    workspace_id: workspaceId,
    id: delivery.id,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    event: testEvent,
    status: delivered ? 'delivered' : 'failed',
    response_code: attempt.response_code,
    error: attempt.error,
    timestamp: attempt.timestamp,
    attempts: [...earlier, attempt],
    created_at: now,
  }
  const rows = await sql`
    with counted as (
      update webhooks set
        stats_deliveries_total = stats_deliveries_total + 1,
        stats_deliveries_successful = stats_deliveries_successful + ${delivered ? 1 : 0},
        stats_deliveries_failed = stats_deliveries_failed + ${delivered ? 0 : 1},
        last_triggered = greatest(last_triggered, ${attempt.timestamp}::timestamptz)
      where workspace_id = ${workspaceId} and id = ${delivery.webhookId} returning 1)
    insert into deliveries (workspace_id, id, webhook_id, event_id, event, status, response_code, error,
      "timestamp", attempts, created_at)
    select ${row.workspace_id}, ${row.id}, ${row.webhook_id}, ${row.event_id}, ${row.event},
      ${row.status}::delivery_status, ${row.response_code}::int, ${row.error}::text, ${row.timestamp}::timestamptz,
      ${JSON.stringify(row.attempts)}::text::jsonb, ${row.created_at}::timestamptz
    from counted returning 1`
  return rows.length > 0
}
