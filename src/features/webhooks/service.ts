import { randomBytes } from 'node:crypto'
import { updateRecord, type Versioned } from '../../events/change.ts'
import { type Tx, transaction } from '../../kernel/context.ts'
import { invalid, invalidField, notFound } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { deleteWebhook, findSecrets, findWebhook, hostOf, insertWebhook, replaceSecret } from './queries.ts'
import { Webhook, type WebhookCreate, type WebhookUpdate } from './schema.ts'
import { stopDeliveries } from './stop.ts'

export { listWebhooks } from './queries.ts'

const overlapHours = 24

export async function getWebhook(tx: Tx, id: string): Promise<Versioned<Webhook>> {
  const found = isId('webhook', id) ? await findWebhook(tx, id) : undefined
  if (!found) throw notFound('webhook')
  return found
}

export async function createWebhook(
  tx: Tx,
  { secret, ...body }: WebhookCreate,
): Promise<Versioned<Webhook & { secret: string }>> {
  const now = tx.now.toISOString()
  const system = {
    id: tx.newId('webhook'),
    stats: { deliveries_total: 0, deliveries_successful: 0, deliveries_failed: 0 },
    created_at: now,
    updated_at: now,
  }
  const { record, problems } = Webhook.complete(body, system, tx.viewer.workspace)
  if (problems.length > 0) throw invalid(problems)
  await requireOpenTarget(tx, record.url)
  const chosen = secret ?? newSecret()
  await insertWebhook(tx, record, tx.secrets.seal(chosen))
  return { record: { ...record, secret: chosen }, version: 1 }
}

export async function updateWebhook(
  tx: Tx,
  id: string,
  { secret, ...patch }: WebhookUpdate,
  ifMatch: string | undefined,
): Promise<Versioned<Webhook>> {
  const { record: before } = await getWebhook(tx, id)
  if (secret != null) await requireSameSecret(tx, id, secret)
  if (patch.url !== undefined && patch.url !== before.url) await requireOpenTarget(tx, patch.url)
  return transaction(tx, async (tx) => {
    const updated = await updateRecord(tx, {
      resource: Webhook,
      find: (tx, lock) => findWebhook(tx, id, lock),
      patch,
      ifMatch,
      defaults: tx.viewer.workspace,
      events: () => [],
      // Turned on again, it starts with a clean sheet.
      accompany: (after) => ({ hidden: { host: hostOf(after.url) } }),
      settle: (after) => (after.active ? { ...after, disabled_reason: null, disabled_at: null } : after),
    })
    if (updated.record.active) return updated
    await stopDeliveries(tx, { workspaceId: tx.workspaceId, webhookId: id }, tx.now)
    return getWebhook(tx, id)
  })
}

export async function removeWebhook(tx: Tx, id: string): Promise<void> {
  const removed = isId('webhook', id) && (await transaction(tx, (tx) => deleteWebhook(tx, id)))
  if (!removed) throw notFound('webhook')
}

export interface Rotation {
  id: string
  secret: string
  previous_secret_expires_at: string
}

export async function rotateSecret(tx: Tx, id: string): Promise<Rotation> {
  const secret = newSecret()
  const until = new Date(tx.now.getTime() + overlapHours * 3_600_000)
  const replaced = isId('webhook', id) && (await replaceSecret(tx, id, tx.secrets.seal(secret), until))
  if (!replaced) throw notFound('webhook')
  return { id, secret, previous_secret_expires_at: until.toISOString() }
}

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

async function requireOpenTarget(tx: Tx, url: string): Promise<void> {
  const refusal = await tx.courier.refusal(url)
  if (refusal) throw invalidField('url', refusal)
}

// A client may send back what it got on create. Another secret would stop receivers that know the old one.
async function requireSameSecret(tx: Tx, id: string, secret: string): Promise<void> {
  const sealed = await findSecrets(tx, id)
  if (sealed && tx.secrets.open(sealed.sealed_secret) !== secret) {
    throw invalidField('secret', `cannot be changed here; use POST /v1/webhooks/${id}/rotate-secret.`)
  }
}
