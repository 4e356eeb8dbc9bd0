import { createHmac, timingSafeEqual } from 'node:crypto'

/*
 * Tells whether a request comes from Plotbase. It needs nothing but Node, and nothing of the rest of
 * this repository, so that the file can also be copied into a receiver as it is.
 */

/** An event as it was sent. With the format `legacy`, `created_at` stands in place of `timestamp` and `workspace_id` is missing. */
export interface WebhookEvent<D = Record<string, unknown>> {
  /** The same on every attempt: keep it to recognise an event that comes twice. */
  id: string
  event: string
  timestamp: string
  workspace_id: string
  data: D
}

export interface VerifyOptions {
  /** How far the time of sending may be from now; 300 unless given. */
  toleranceSeconds?: number
  /** For tests. */
  now?: Date
  /** True for webhooks with `format: legacy`, whose signature covers the body alone: no time is checked. */
  legacy?: boolean
}

/** The request is not to be trusted. The message says why, for your log; do not send it back. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

/** What Node, Fastify and Express have as headers, or what fetch has. */
export type WebhookHeaders =
  | Record<string, string | string[] | undefined>
  | { get(name: string): string | null }

const defaultToleranceSeconds = 300

/**
 * Checks the signature and the age of a request and gives back the event. `body` must be the bytes as
 * they came: parsed and written again, JSON is rarely the same. Throws WebhookVerificationError.
 */
export function verifyWebhook<D = Record<string, unknown>>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  options: VerifyOptions = {},
): WebhookEvent<D> {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : Buffer.from(body)
  if (options.legacy) requireOne(legacyMatches(bytes, headers, secret))
  else if (header(headers, 'x-service-signature')) verifyService(bytes, headers, secret, options)
  else verifyStandard(bytes, headers, secret, options)
  try {
    return JSON.parse(bytes.toString('utf8')) as WebhookEvent<D>
  } catch {
    throw new WebhookVerificationError('The body is not JSON.')
  }
}

// During a rotation the new secret signs in one header and the old one in the other: either is good.
const serviceHeaders = ['x-service-signature', 'x-service-signature-previous']

function verifyService(body: Buffer, headers: WebhookHeaders, secret: string, options: VerifyOptions): void {
  const seconds = recentSeconds(header(headers, 'x-service-timestamp'), options)
  const expected = hex(secret, [`${seconds}.`, body])
  requireOne(serviceHeaders.some((name) => isSame(header(headers, name), expected)))
}

const legacyMatches = (body: Buffer, headers: WebhookHeaders, secret: string): boolean => {
  const expected = hex(secret, [body])
  return serviceHeaders.some((name) => isSame(header(headers, name), expected))
}

/** The headers of the Standard Webhooks specification, which are sent as well. */
function verifyStandard(body: Buffer, headers: WebhookHeaders, secret: string, options: VerifyOptions): void {
  const id = header(headers, 'webhook-id')
  const signatures = header(headers, 'webhook-signature')
  if (!id || !signatures) throw new WebhookVerificationError('The request has no signature.')
  const seconds = recentSeconds(header(headers, 'webhook-timestamp'), options)
  const mac = createHmac('sha256', standardKey(secret)).update(`${id}.${seconds}.`).update(body)
  const expected = `v1,${mac.digest('base64')}`
  requireOne(signatures.split(' ').filter((signature) => isSame(signature, expected)).length > 0)
}

function recentSeconds(text: string | undefined, options: VerifyOptions): string {
  const { toleranceSeconds = defaultToleranceSeconds, now = new Date() } = options
  if (!text || !/^\d{1,12}$/.test(text)) throw new WebhookVerificationError('The request has no timestamp.')
  if (Math.abs(now.getTime() / 1_000 - Number(text)) > toleranceSeconds)
    throw new WebhookVerificationError('The request is too old, or a clock is wrong.')
  return text
}

function requireOne(matches: boolean): void {
  if (!matches) throw new WebhookVerificationError('The signature does not match.')
}

const hex = (secret: string, parts: (string | Buffer)[]) =>
  `sha256=${parts.reduce((mac, part) => mac.update(part), createHmac('sha256', secret)).digest('hex')}`

const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/

/** A secret of the form `whsec_<base64>` stands for the bytes it encodes; any other for itself. */
function standardKey(secret: string): Buffer {
  const base64 = encoded.exec(secret)?.[1]
  return base64 ? Buffer.from(base64, 'base64') : Buffer.from(secret)
}

/** Takes the same time wherever two texts differ. */
function isSame(given: string | undefined, expected: string): boolean {
  if (given === undefined) return false
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function header(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof (headers as Headers).get === 'function') return (headers as Headers).get(name) ?? undefined
  const all = headers as Record<string, string | string[] | undefined>
  const value = all[name] ?? all[Object.keys(all).find((key) => key.toLowerCase() === name) ?? name]
  return Array.isArray(value) ? value[0] : value
}
