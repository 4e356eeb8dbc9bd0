import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { payloadOf, signatureHeaders } from '../src/delivery/sign.ts'
import type { Letter } from '../src/kernel/courier.ts'
import { verifyWebhook, WebhookVerificationError } from './webhooks.ts'

const now = new Date('2026-03-01T09:00:00.400Z')
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const oldSecret = 'an older secret of ours'
const event = {
  id: 'evt_1',
  name: 'unit.sold',
  at: '2026-03-01T08:59:59.000Z',
  workspaceId: 'ws_1',
  data: '{"id":"unit_1","name":"Größe – 大"}',
}
const sent = (parts: Partial<Letter> = {}, at = now) => {
  const letter: Letter = { url: '', format: 'current', secret, previousSecret: null, event, ...parts }
  const body = payloadOf(letter)
  return { body, headers: signatureHeaders(letter, body, at) }
}
const only = (headers: Record<string, string>, prefix: string) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(prefix)))
const refused = (...args: Parameters<typeof verifyWebhook>) =>
  expect(() => verifyWebhook(...args)).toThrow(WebhookVerificationError)

describe('what is sent', () => {
  it('is signed as specified, over its exact bytes', () => {
    const { body, headers } = sent()
    expect(body).toBe(
      `{"id":"evt_1","event":"unit.sold","timestamp":"${event.at}","workspace_id":"ws_1","data":${event.data}}`,
    )
    const seconds = '1772355600'
    const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text)
    expect(headers).toEqual({
      'x-service-timestamp': seconds,
      'x-service-signature': `sha256=${mac(secret, `${seconds}.${body}`).digest('hex')}`,
      'webhook-id': 'evt_1',
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${mac(Buffer.alloc(32, 7), `evt_1.${seconds}.${body}`).digest('base64')}`,
    })
  })

  it('has the older shape and signature with the format legacy', () => {
    const { body, headers } = sent({ format: 'legacy' })
    expect(JSON.parse(body)).toEqual({
      id: 'evt_1',
      event: 'unit.sold',
      created_at: event.at,
      data: JSON.parse(event.data),
    })
    expect(headers['x-service-signature']).toBe(
      `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    )
    expect(Object.keys(headers).filter((name) => name.startsWith('webhook-'))).toEqual([])
  })
})

describe('the verifier', () => {
  it.each([
    ['text', (body: string) => body],
    ['a buffer', (body: string) => Buffer.from(body)],
    ['bytes', (body: string) => new Uint8Array(Buffer.from(body))],
  ])('takes %s', (_what, asSent) => {
    const { body, headers } = sent()
    expect(verifyWebhook(asSent(body), headers, secret, { now })).toEqual(JSON.parse(body))
  })

  it('takes headers of Node and of fetch, in any case', () => {
    const { body, headers } = sent()
    verifyWebhook(body, new Headers(headers), secret, { now })
    const shouting = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]])
    verifyWebhook(body, Object.fromEntries(shouting), secret, { now })
  })

  it('takes the headers of Standard Webhooks alone, with every kind of secret', () => {
    for (const key of [secret, oldSecret, 'whsec_not base64 at all', 'whsec_']) {
      const { body, headers } = sent({ secret: key })
      verifyWebhook(body, only(headers, 'webhook-'), key, { now })
    }
  })

  it('takes either secret while one replaces the other', () => {
    const { body, headers } = sent({ previousSecret: oldSecret })
    for (const prefix of ['x-service', 'webhook-'])
      for (const key of [secret, oldSecret]) verifyWebhook(body, only(headers, prefix), key, { now })
    refused(body, headers, 'a third one, never used', { now })
  })

  it('takes the older format when told so, and only then', () => {
    const { body, headers } = sent({ format: 'legacy', previousSecret: oldSecret })
    expect(verifyWebhook(body, headers, secret, { now, legacy: true })).toEqual(JSON.parse(body))
    verifyWebhook(body, headers, oldSecret, { legacy: true })
    refused(body, headers, secret, { now })
    const current = sent()
    refused(current.body, current.headers, secret, { now, legacy: true })
  })

  it('refuses what was changed on the way', () => {
    const { body, headers } = sent()
    refused(`${body} `, headers, secret, { now })
    refused(body.replace('unit_1', 'unit_2'), headers, secret, { now })
    refused(JSON.stringify(JSON.parse(body), null, 2), headers, secret, { now })
    refused(body, { ...headers, 'x-service-timestamp': '1772355601' }, secret, { now })
    refused(
      body,
      { ...headers, 'x-service-signature': headers['x-service-signature']!.slice(0, -1) },
      secret,
      { now },
    )
    refused(body, { ...headers, 'x-service-signature': 'sha256=' }, secret, { now })
    refused(body, { ...only(headers, 'webhook-'), 'webhook-id': 'evt_2' }, secret, { now })
    refused(body, headers, `${secret}x`, { now })
  })

  it('refuses what is unsigned or has no time', () => {
    const { body, headers } = sent()
    refused(body, {}, secret, { now })
    for (const name of Object.keys(headers)) {
      const { [name]: _, ...rest } = headers
      if (name === 'x-service-timestamp') refused(body, rest, secret, { now })
      if (name.startsWith('webhook-')) refused(body, only(rest, 'webhook-'), secret, { now })
    }
    refused(body, { ...headers, 'x-service-timestamp': 'now' }, secret, { now })
  })

  it('refuses what is more than five minutes off, or the tolerance given', () => {
    const { body, headers } = sent()
    const at = (seconds: number) => new Date(Date.parse('2026-03-01T09:00:00Z') + seconds * 1_000)
    for (const prefix of ['x-service', 'webhook-']) {
      const some = only(headers, prefix)
      for (const seconds of [-300, 300]) verifyWebhook(body, some, secret, { now: at(seconds) })
      for (const seconds of [-301, 301]) refused(body, some, secret, { now: at(seconds) })
      refused(body, some, secret, { now: at(11), toleranceSeconds: 10 })
    }
  })

  it('refuses a signed body that is not JSON', () => {
    const seconds = String(Math.floor(now.getTime() / 1_000))
    const signature = `sha256=${createHmac('sha256', secret).update(`${seconds}.hello`).digest('hex')}`
    refused('hello', { 'x-service-timestamp': seconds, 'x-service-signature': signature }, secret, { now })
  })
})
