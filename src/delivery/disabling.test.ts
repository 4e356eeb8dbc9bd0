import { describe, expect, it, vi } from 'vitest'
import { createWebhook, deliveriesOf, schedule, useDelivering } from '../../test/delivering.ts'
import { createProperty } from '../../test/fixtures.ts'
import { useHarness } from '../../test/harness.ts'
import { answering, holding } from '../../test/receiver.ts'
import { stoppedError } from '../features/webhooks/stop.ts'

const harness = useHarness()
const { scenario } = harness
const delivering = useDelivering(harness)

const mails = () => harness.sql`select * from mail order by created_at, id`
const notices = (webhookId: string) => harness.sql`select * from notices where resource_id = ${webhookId}`

async function subscribed(answer = answering(500)) {
  const receiver = await delivering.receiver(answer)
  await harness.sql`update webhooks set active = false`
  await harness.sql`delete from mail`
  return { receiver, webhook: await createWebhook(harness, receiver.url) }
}

describe('the schedule', () => {
  it('has five attempts, at the times that were promised', async () => {
    const { receiver, webhook } = await subscribed()
    await createProperty(harness)
    await delivering.settle()
    for (const [at, delay] of schedule.entries()) {
      await delivering.advance(delay - 1)
      expect(receiver.received).toHaveLength(at + 1)
      await delivering.advance(1)
      expect(receiver.received).toHaveLength(at + 2)
    }
    await delivering.advance(10 * schedule.at(-1)!)
    expect(receiver.received).toHaveLength(5)
    expect(new Set(receiver.received.map(({ json }) => json.id)).size).toBe(1)
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
    expect(await deliveriesOf(harness, webhook.id)).toMatchObject([
      { status: 'failed', next_retry: null, attempts: [{}, {}, {}, {}, {}] },
    ])
  })
})

describe('the fifth failure of a delivery', () => {
  it('turns the webhook off, stops what waits and tells the owner once', async () => {
    const { receiver, webhook } = await subscribed()
    await createProperty(harness)
    await delivering.settle()
    for (const delay of schedule.slice(0, 3)) await delivering.advance(delay)
    await createProperty(harness)
    await createProperty(harness)
    await delivering.settle()
    expect(await mails()).toHaveLength(0)
    // Two are queued but not tried at the moment of the fifth failure.
    harness.clock.advance(schedule[3]!)
    await createProperty(harness)
    await delivering.settle()

    const { data } = await scenario({
      get: `/v1/webhooks/${webhook.id}`,
      status: 200,
      match: { active: false },
    })
    expect(data.disabled_reason).toContain('Answered 500.')
    expect(data.disabled_at).toBe(harness.clock.now().toISOString())
    const deliveries = await deliveriesOf(harness, webhook.id)
    expect(deliveries).toHaveLength(4)
    expect(deliveries.every(({ status, next_retry }) => status === 'failed' && next_retry === null)).toBe(
      true,
    )
    expect(data.stats).toEqual({ deliveries_total: 4, deliveries_successful: 0, deliveries_failed: 4 })

    const [mail, ...more] = await mails()
    expect(more).toEqual([])
    const [owner] = await harness.sql`select email from agents where id = ${harness.tenant.ownerId}`
    expect(mail!.recipient).toBe(owner!.email)
    const { text } = JSON.parse(harness.secrets.open(mail!.sealed_body))
    expect(text).toContain(webhook.url)
    expect(text).toContain('recover')
    expect(await notices(webhook.id)).toMatchObject([
      { workspace_id: harness.tenant.production.id, kind: 'webhook_disabled', read_at: null },
    ])

    const tries = receiver.received.length
    await createProperty(harness)
    await delivering.advance(10 * schedule[3]!)
    expect(receiver.received).toHaveLength(tries)
  })

  it('is undone by turning the webhook on again, and what failed can be recovered', async () => {
    const { receiver, webhook } = await subscribed()
    const since = harness.clock.now().toISOString()
    await createProperty(harness)
    await delivering.settle()
    for (const delay of schedule) await delivering.advance(delay)
    await scenario({ get: `/v1/webhooks/${webhook.id}`, status: 200, match: { active: false } })
    receiver.answer = answering(200)
    await scenario({
      put: `/v1/webhooks/${webhook.id}`,
      body: { active: true },
      status: 200,
      match: { active: true, disabled_reason: null, disabled_at: null },
    })
    await scenario({
      post: `/v1/webhooks/${webhook.id}/recover`,
      body: { since },
      status: 202,
      match: { requeued: 1 },
    })
    await delivering.settle()
    expect(await deliveriesOf(harness, webhook.id)).toMatchObject([{ status: 'delivered' }])
    await createProperty(harness)
    await delivering.settle()
    expect(await deliveriesOf(harness, webhook.id, '?status=delivered')).toHaveLength(2)
  })

  it('of a webhook that was recovered counts anew', async () => {
    const { receiver, webhook } = await subscribed()
    const since = harness.clock.now().toISOString()
    await createProperty(harness)
    await delivering.settle()
    for (const delay of schedule) await delivering.advance(delay)
    await scenario({ put: `/v1/webhooks/${webhook.id}`, body: { active: true }, status: 200 })
    await scenario({ post: `/v1/webhooks/${webhook.id}/recover`, body: { since }, status: 202 })
    await delivering.settle()
    await scenario({ get: `/v1/webhooks/${webhook.id}`, status: 200, match: { active: true } })
    for (const delay of schedule) await delivering.advance(delay)
    await scenario({ get: `/v1/webhooks/${webhook.id}`, status: 200, match: { active: false } })
    expect(receiver.received).toHaveLength(10)
    expect(await mails()).toHaveLength(2)
  })
})

describe('what was queued and never tried when a webhook is turned off', () => {
  const stopped = [{ status: 'failed', error: stoppedError, attempts: [], next_retry: null }]
  const stats = { deliveries_total: 1, deliveries_successful: 0, deliveries_failed: 1 }

  it('is listed as failed, and can be recovered', async () => {
    const { receiver, webhook } = await subscribed(answering(200))
    const since = harness.clock.now().toISOString()
    await createProperty(harness)
    await delivering.fanOut()
    const off = { body: { active: false }, status: 200, match: { active: false, stats } }
    await scenario({ put: `/v1/webhooks/${webhook.id}`, ...off })
    expect(await deliveriesOf(harness, webhook.id)).toMatchObject(stopped)
    await delivering.settle()
    expect(receiver.received).toEqual([])
    await scenario({ put: `/v1/webhooks/${webhook.id}`, body: { active: true }, status: 200 })
    await scenario({ post: `/v1/webhooks/${webhook.id}/recover`, body: { since }, status: 202 })
    await delivering.settle()
    expect(receiver.received).toHaveLength(1)
    await scenario({
      get: `/v1/webhooks/${webhook.id}`,
      status: 200,
      match: { stats: { deliveries_total: 1, deliveries_successful: 1, deliveries_failed: 0 } },
    })
  })

  it('is found by the worker when it slipped into the queue at that very moment', async () => {
    const { receiver, webhook } = await subscribed(answering(200))
    await createProperty(harness)
    await delivering.fanOut()
    await harness.sql`update webhooks set active = false where id = ${webhook.id}`
    await delivering.settle()
    expect(receiver.received).toEqual([])
    expect(await deliveriesOf(harness, webhook.id)).toMatchObject(stopped)
    await scenario({ get: `/v1/webhooks/${webhook.id}`, status: 200, match: { stats, last_triggered: null } })
  })
})

describe('an answer of 410', () => {
  it('turns the webhook off at once', async () => {
    const { webhook, receiver } = await subscribed(answering(410))
    await createProperty(harness)
    await delivering.settle()
    await scenario({
      get: `/v1/webhooks/${webhook.id}`,
      status: 200,
      match: { active: false, disabled_reason: expect.stringContaining('410') },
    })
    expect(await deliveriesOf(harness, webhook.id)).toMatchObject([{ status: 'failed', next_retry: null }])
    await delivering.advance(schedule[0]!)
    expect(receiver.received).toHaveLength(1)
    expect(await mails()).toHaveLength(1)
  })
})

describe('an answer from where the webhook led before', () => {
  it('does not turn it off', async () => {
    const { answer, letGo } = holding(410)
    const { webhook, receiver } = await subscribed(answer)
    await createProperty(harness)
    await delivering.fanOut()
    await delivering.engine.deliver()
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1))
    const other = await delivering.receiver()
    await scenario({ put: `/v1/webhooks/${webhook.id}`, body: { url: other.url }, status: 200 })
    letGo()
    await delivering.settle()
    await scenario({
      get: `/v1/webhooks/${webhook.id}`,
      status: 200,
      match: { active: true, disabled_reason: null },
    })
    expect(await mails()).toEqual([])
  })
})

describe('Retry-After', () => {
  it.each([429, 503])(
    'on %s brings the next attempt forward, and does not count against the five',
    async (status) => {
      const { receiver, webhook } = await subscribed(answering(status, '', { 'retry-after': '30' }))
      await createProperty(harness)
      await delivering.settle()
      const next = async () => (await deliveriesOf(harness, webhook.id))[0].next_retry
      const first = harness.clock.now().getTime()
      expect(await next()).toBe(new Date(first + 30_000).toISOString())
      await delivering.advance(30_000)
      expect(receiver.received).toHaveLength(2)
      // Asked for patience twice, we are back in the schedule.
      expect(await next()).toBe(new Date(first + schedule[0]!).toISOString())
      for (let round = 0; round < 20; round++) await delivering.advance(schedule[3]!)
      expect(receiver.received).toHaveLength(9)
      await scenario({ get: `/v1/webhooks/${webhook.id}`, status: 200, match: { active: false } })
    },
  )

  it.each([
    ['longer than the schedule', '86400', schedule[0]!],
    ['a date', 'in 60 s', 60_000],
    ['nothing', '0', 1_000],
    ['nonsense', 'soon', schedule[0]!],
    ['before now', '-5', schedule[0]!],
  ])('that is %s', async (_what, value, expected) => {
    const date = new Date(harness.clock.now().getTime() + 60_000).toUTCString()
    const { webhook } = await subscribed(
      answering(429, '', { 'retry-after': value === 'in 60 s' ? date : value }),
    )
    await createProperty(harness)
    await delivering.settle()
    const [{ next_retry }] = await deliveriesOf(harness, webhook.id)
    expect(Date.parse(next_retry) - harness.clock.now().getTime()).toBe(expected)
  })

  it('on other answers is not heard', async () => {
    const { webhook } = await subscribed(answering(500, '', { 'retry-after': '30' }))
    await createProperty(harness)
    await delivering.settle()
    const [{ next_retry }] = await deliveriesOf(harness, webhook.id)
    expect(Date.parse(next_retry) - harness.clock.now().getTime()).toBe(schedule[0]!)
  })
})
