import type { Tx } from '../../kernel/context.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import * as queries from './delivery-queries.ts'
import { type Delivery, testEvent } from './delivery-schema.ts'
import { findSecrets } from './queries.ts'
import type { Webhook } from './schema.ts'
import { getWebhook } from './service.ts'

export async function listDeliveries(tx: Tx, webhookId: string, query: ListQuery): Promise<Page<Delivery>> {
  await getWebhook(tx, webhookId)
  return queries.listDeliveries(tx, webhookId, query)
}

/** Sends a failed delivery again, with a new schedule should it fail once more. */
export async function retryDelivery(tx: Tx, webhookId: string, id: string): Promise<Delivery> {
  const { record: webhook } = await getWebhook(tx, webhookId)
  const delivery = await getDelivery(tx, webhookId, id)
  if (delivery.status === 'delivered')
    throw conflict('This delivery has arrived; only failed ones can be sent again.')
  if (delivery.event === testEvent) throw conflict('A test is not sent again; send another test.')
  requireActive(webhook)
  const requeued = await queries.requeue(tx, webhookId, { id })
  if (requeued === 0) throw conflict('This delivery is being tried at this moment.')
  return getDelivery(tx, webhookId, id)
}

/** Sends all failed deliveries since then again. */
export async function recoverDeliveries(tx: Tx, webhookId: string, since: Date): Promise<number> {
  const { record: webhook } = await getWebhook(tx, webhookId)
  requireActive(webhook)
  return queries.requeue(tx, webhookId, { since })
}

export interface TestResult {
  delivery_id: string
  status: Delivery['status']
  response_code: number | null
  response_time_ms: number
  error: string | null
}

/** Sends a test at once, whether or not the webhook is active, and tells what the receiver did. */
export async function sendTest(tx: Tx, webhookId: string): Promise<TestResult> {
  const { record: webhook } = await getWebhook(tx, webhookId)
  const sealed = await findSecrets(tx, webhookId)
  if (!sealed) throw notFound('webhook')
  const { sealed_secret, sealed_previous_secret } = sealed
  const event = {
    id: tx.newId('evt'),
    name: testEvent,
    at: tx.now.toISOString(),
    workspaceId: tx.workspaceId,
    data: JSON.stringify({ id: webhookId, message: 'This is a test.' }),
  }
  const outcome = await tx.courier.deliver({
    url: webhook.url,
    format: webhook.format,
    secret: tx.secrets.open(sealed_secret),
    previousSecret: sealed_previous_secret && tx.secrets.open(sealed_previous_secret),
    event,
  })
  const delivery = { id: tx.newId('del'), webhookId, eventId: event.id }
  // Deleted while the receiver was thinking.
  if (!(await queries.insertTest(tx, delivery, outcome))) throw notFound('webhook')
  const { attempt } = outcome
  return {
    delivery_id: delivery.id,
    status: attempt.error === null ? 'delivered' : 'failed',
    response_code: attempt.response_code,
    response_time_ms: attempt.duration_ms,
    error: attempt.error,
  }
}

async function getDelivery(tx: Tx, webhookId: string, id: string): Promise<Delivery> {
  const found = isId('del', id) ? await queries.findDelivery(tx, webhookId, id) : undefined
  if (!found) throw notFound('delivery')
  return found
}

function requireActive(webhook: Webhook): void {
  if (webhook.active) return
  throw conflict('The webhook is not active; turn it on with {"active": true} first.')
}
