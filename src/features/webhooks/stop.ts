import type { Secrets } from '../../kernel/context.ts'
import type { Sql } from '../../kernel/sql.ts'
import { ownersOf } from '../accounts/people.ts'
import { queueMail } from '../mail/outbox.ts'
import { addNotice } from '../notices/notices.ts'

export interface WebhookKey {
  workspaceId: string
  webhookId: string
}

/** What the list of deliveries shows for those that were never tried. */
export const stoppedError = 'The webhook was turned off before this was sent.'

/**
 * Takes what waits out of the queue. What was never tried counts as failed from here on, so that it is
 * listed and can be recovered. Rows that a worker holds are left to it: whoever comes first, nobody waits.
 */
export async function stopDeliveries(
  { sql }: { sql: Sql },
  { workspaceId, webhookId }: WebhookKey,
  now: Date,
): Promise<void> {
  await sql`
    with stopped as (
      update deliveries d
      set due_at = null, next_retry = null, resume_at = null, status = 'failed',
        error = coalesce(d.error, ${stoppedError}), "timestamp" = coalesce(d."timestamp", ${now})
      from (
        select id, status is null as untried from deliveries
        where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and due_at is not null
          and (leased_until is null or leased_until < clock_timestamp())
        for update skip locked) waiting
      where d.workspace_id = ${workspaceId} and d.id = waiting.id
      returning untried
    ), untried as (select count(*)::int as number from stopped where untried)
    update webhooks set
      stats_deliveries_total = stats_deliveries_total + number,
      stats_deliveries_failed = stats_deliveries_failed + number
    from untried where workspace_id = ${workspaceId} and id = ${webhookId} and number > 0`
}

/** Turns a webhook off for good reason, and tells the owners once. Not if it leads somewhere else by now. */
export async function disableWebhook(
  tx: { sql: Sql; secrets: Secrets; now: Date },
  { url, ...key }: WebhookKey & { url: string },
  reason: string,
): Promise<boolean> {
  const { sql, now } = tx
  const { workspaceId, webhookId } = key
  const [disabled] = await sql`
    update webhooks set active = false, disabled_reason = ${reason}, disabled_at = ${now}, updated_at = ${now},
      version = version + 1
    where workspace_id = ${workspaceId} and id = ${webhookId} and active and url = ${url}
    returning 1`
  if (!disabled) return false
  await stopDeliveries(tx, key, now)
  const message = `Your webhook ${webhookId} to ${url} was turned off: ${reason}`
  await addNotice(sql, { workspaceId, kind: 'webhook_disabled', message, resourceId: webhookId }, now)
  for (const owner of await ownersOf(sql, workspaceId)) {
    await queueMail(tx, {
      to: owner.email,
      subject: 'A webhook was turned off',
      ...bodies(owner.name, message, key),
    })
  }
  return true
}

const advice = ({ webhookId }: WebhookKey) =>
  `No events are sent to it any more. When the receiver works again, turn it on with PUT /v1/webhooks/${webhookId} ` +
  `and {"active": true}, then send what was missed with POST /v1/webhooks/${webhookId}/recover.`

const bodies = (name: string, message: string, key: WebhookKey) => ({
  text: `Hello ${name},\n\n${message}\n\n${advice(key)}\n`,
  html: [`Hello ${name},`, message, advice(key)].map((line) => `<p>${escaped(line)}</p>`).join('\n'),
})

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
