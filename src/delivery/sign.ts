import { createHmac } from 'node:crypto'
import type { Letter } from '../kernel/courier.ts'

/** The bytes of a delivery. `data` goes in as the text it was stored as, so that every attempt sends the same. */
export function payloadOf({ event, format }: Pick<Letter, 'event' | 'format'>): string {
  const { id, name, at, workspaceId, data } = event
  if (format === 'legacy')
    return `{"id":${text(id)},"event":${text(name)},"created_at":${text(at)},"data":${data}}`
  return `{"id":${text(id)},"event":${text(name)},"timestamp":${text(at)},"workspace_id":${text(workspaceId)},"data":${data}}`
}

const text = (value: string) => JSON.stringify(value)

/** The headers that let a receiver know who sent these bytes, and when. */
export function signatureHeaders(letter: Letter, payload: string, now: Date): Record<string, string> {
  const { secret, previousSecret, format, event } = letter
  const seconds = String(Math.floor(now.getTime() / 1_000))
  const signed = format === 'legacy' ? payload : `${seconds}.${payload}`
  const headers: Record<string, string> = {
    'x-service-timestamp': seconds,
    'x-service-signature': serviceSignature(secret, signed),
  }
  if (previousSecret) headers['x-service-signature-previous'] = serviceSignature(previousSecret, signed)
  if (format === 'legacy') return headers

  const standard = `${event.id}.${seconds}.${payload}`
  headers['webhook-id'] = event.id
  headers['webhook-timestamp'] = seconds
  headers['webhook-signature'] = [secret, ...(previousSecret ? [previousSecret] : [])]
    .map((key) => `v1,${createHmac('sha256', standardKey(key)).update(standard).digest('base64')}`)
    .join(' ')
  return headers
}

const serviceSignature = (secret: string, signed: string) =>
  `sha256=${createHmac('sha256', secret).update(signed).digest('hex')}`

const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/

/** Standard Webhooks keys its signature with what `whsec_` stands before; other secrets are used as they are. */
export function standardKey(secret: string): Buffer {
  const base64 = encoded.exec(secret)?.[1]
  return base64 ? Buffer.from(base64, 'base64') : Buffer.from(secret)
}
