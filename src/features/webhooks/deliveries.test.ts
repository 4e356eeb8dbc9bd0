import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { createWebhook, deliveriesOf, schedule, useDelivering } from '../../../test/delivering.ts'
import { createProperty } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { answering, holding } from '../../../test/receiver.ts'

const harness = useHarness()
const { scenario } = harness
const delivering = useDelivering(harness)

const later = (ms: number) => new Date(harness.clock.now().getTime() + ms).toISOString()

/** A webhook of its own for a test; what happens in other tests does not reach it. */
async function subscribed(answer = answering(200, 'ok'), body: object = {}) {
  const receiver = await delivering.receiver(answer)
  await harness.sql`update webhooks set active = false`
  return { receiver, webhook: await createWebhook(harness, receiver.url, body) }
}

describe('deliveries', () => {
  it('are listed once they were tried, with every attempt', async () => {
    const { webhook, receiver } = await subscribed(answering(201, 'thanks'))
    const { id } = await createProperty(harness)
    await delivering.fanOut()
    expect(await deliveriesOf(harness, webhook.id)).toEqual([])
    await delivering.settle()
    const [delivery, ...rest] = await deliveriesOf(harness, webhook.id)
    expect(rest).toEqual([])
    const now = harness.clock.now().toISOString()
    expect(delivery).toEqual({
      id: expect.stringMatching(/^del_/),
      webhook_id: webhook.id,
      event_id: receiver.received[0]!.json.id,
      event: 'property.created',
      status: 'delivered',
      response_code: 201,
      error: null,
      timestamp: now,
      next_retry: null,
      attempts: [
        {
          timestamp: now,
          response_code: 201,
          duration_ms: expect.any(Number),
          error: null,
          response_body: 'thanks',
        },
      ],
      created_at: now,
    })
    expect(receiver.received[0]!.json.data.id).toBe(id)
    await scenario({
      get: `/v1/webhooks/${webhook.id}`,
      status: 200,
      match: {
        last_triggered: now,
        stats: { deliveries_total: 1, deliveries_successful: 1, deliveries_failed: 0 },
      },
    })
  })

  it('that fail show the error and the next retry, and move from failed to successful', async () => {
    const { webhook, receiver } = await subscribed(answering(500, 'oops'))
    await createProperty(harness)
    await delivering.settle()
    const [failed] = await deliveriesOf(harness, webhook.id)
    expect(failed).toMatchObject({
      status: 'failed',
      response_code: 500,
      error: 'Answered 500.',
      next_retry: later(schedule[0]!),
    })
    const stats = async () => (await scenario({ get: `/v1/webhooks/${webhook.id}`, status: 200 })).data.stats
    expect(await stats()).toEqual({ deliveries_total: 1, deliveries_successful: 0, deliveries_failed: 1 })
    receiver.answer = answering(200)
    await delivering.advance(schedule[0]!)
    const [delivered] = await deliveriesOf(harness, webhook.id)
    expect(delivered).toMatchObject({ id: failed.id, status: 'delivered', error: null, next_retry: null })
    expect(delivered.attempts.map((each: { response_code: number }) => each.response_code)).toEqual([
      500, 200,
    ])
    expect(await stats()).toEqual({ deliveries_total: 1, deliveries_successful: 1, deliveries_failed: 0 })
    expect(receiver.received.map(({ json }) => json.id)).toEqual([failed.event_id, failed.event_id])
  })

  it('are filtered by status and event, paged and sorted', async () => {
    const { webhook, receiver } = await subscribed()
    const property = await createProperty(harness)
    await delivering.settle()
    receiver.answer = answering(400)
    await scenario({ put: `/v1/properties/${property.id}`, body: { status: 'completed' }, status: 200 })
    await delivering.advance(1_000)
    const eventsIn = async (query: string) =>
      (await deliveriesOf(harness, webhook.id, query)).map(({ event }) => event).sort()
    expect(await eventsIn('?status=delivered')).toEqual(['property.created'])
    expect(await eventsIn('?status=failed')).toEqual(['property.status_changed', 'property.updated'])
    expect(await eventsIn('?status=failed,delivered')).toHaveLength(3)
    expect(await eventsIn('?event=property.updated')).toEqual(['property.updated'])
    expect(await eventsIn('?event=property.updated,property.created&status=failed')).toEqual([
      'property.updated',
    ])
    expect(await eventsIn('?event=webhook.test')).toEqual([])
    expect(await eventsIn('?order=asc&per_page=1')).toEqual(['property.created'])
    const list = `/v1/webhooks/${webhook.id}/deliveries`
    await scenario({ get: `${list}?status=lost`, status: 422, wrong: ['status'] })
    await scenario({ get: `${list}?event=nothing`, status: 422, wrong: ['event'] })
    await scenario({ get: `${list}?sort=status`, status: 422, wrong: ['sort'] })
  })

  it('go to the subscribed webhooks of the workspace alone', async () => {
    const { receiver: all } = await subscribed()
    const [some, off] = [await delivering.receiver(), await delivering.receiver()]
    await createWebhook(harness, some.url, { events: ['property.updated', 'unit.sold'] })
    await createWebhook(harness, off.url, { active: false })
    const stranger = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'USD' })
    const { id } = await createProperty(harness)
    await createProperty(harness, {}, stranger.adminKey)
    await scenario({ put: `/v1/properties/${id}`, body: { name: 'New' }, status: 200 })
    await delivering.settle()
    const told = (receiver: typeof all) => receiver.received.map(({ json }) => json.event).sort()
    expect(told(all)).toEqual(['property.created', 'property.updated'])
    expect(told(some)).toEqual(['property.updated'])
    expect(told(off)).toEqual([])
  })

  it('that wait go to the new URL when it changes, and nowhere when the webhook is deleted', async () => {
    const { webhook } = await subscribed(answering(503))
    await createProperty(harness)
    await delivering.settle()
    const other = await delivering.receiver()
    await scenario({ put: `/v1/webhooks/${webhook.id}`, body: { url: other.url }, status: 200 })
    await delivering.advance(schedule[0]!)
    expect(other.received).toHaveLength(1)
    await createProperty(harness)
    await delivering.fanOut()
    await scenario({ delete: `/v1/webhooks/${webhook.id}`, status: 204 })
    await delivering.settle()
    expect(other.received).toHaveLength(1)
  })
})

describe('deliveries that wait for their turn at a slow receiver', () => {
  const changes = {
    moved: (id: string, url: string) => scenario({ put: `/v1/webhooks/${id}`, body: { url }, status: 200 }),
    'turned off': (id: string) =>
      scenario({ put: `/v1/webhooks/${id}`, body: { active: false }, status: 200 }),
    deleted: (id: string) => scenario({ delete: `/v1/webhooks/${id}`, status: 204 }),
  }

  it.each([
    ['moved', 2],
    ['turned off', 0],
    ['deleted', 0],
  ] as const)('are not sent there once the webhook was %s', async (change, elsewhere) => {
    const { answer, letGo } = holding()
    const { webhook, receiver } = await subscribed(answer)
    const other = await delivering.receiver()
    for (let number = 0; number < 4; number++) await createProperty(harness)
    await delivering.fanOut()
    await delivering.engine.deliver()
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2))
    await changes[change](webhook.id, other.url)
    await sleep(300)
    letGo()
    await delivering.settle()
    expect(receiver.received).toHaveLength(2)
    expect(other.received).toHaveLength(elsewhere)
  })
})

describe('retry', () => {
  it('sends a failed delivery again at once', async () => {
    const { webhook, receiver } = await subscribed(answering(500))
    await createProperty(harness)
    await delivering.settle()
    const [failed] = await deliveriesOf(harness, webhook.id)
    receiver.answer = answering(204)
    await scenario({
      post: `/v1/webhooks/${webhook.id}/deliveries/${failed.id}/retry`,
      status: 202,
      match: { id: failed.id, status: 'failed', next_retry: later(0) },
    })
    await delivering.settle()
    expect(await deliveriesOf(harness, webhook.id)).toMatchObject([
      { status: 'delivered', response_code: 204, attempts: [{}, {}] },
    ])
    await scenario({
      post: `/v1/webhooks/${webhook.id}/deliveries/${failed.id}/retry`,
      status: 409,
      error: { code: 'CONFLICT', message: expect.stringContaining('arrived') },
    })
    await delivering.advance(schedule[0]!)
    expect(receiver.received).toHaveLength(2)
  })

  it('is refused where there is nothing to send again', async () => {
    const { webhook } = await subscribed(answering(500))
    const other = await createWebhook(harness, 'https://hooks.example.com')
    await createProperty(harness)
    await delivering.settle()
    const [failed] = await deliveriesOf(harness, webhook.id)
    const retry = (webhookId: string, id: string) => `/v1/webhooks/${webhookId}/deliveries/${id}/retry`
    await scenario({ post: retry(webhook.id, 'del_unknown'), status: 404 })
    await scenario({ post: retry(webhook.id, 'nonsense'), status: 404 })
    await scenario({ post: retry(other.id, failed.id), status: 404 })
    await harness.sql`
      update deliveries set leased_until = clock_timestamp() + interval '1 minute' where id = ${failed.id}`
    await scenario({ post: retry(webhook.id, failed.id), status: 409 })
    await harness.sql`update deliveries set leased_until = null where id = ${failed.id}`
    await scenario({ put: `/v1/webhooks/${webhook.id}`, body: { active: false }, status: 200 })
    const { body } = await scenario({ post: retry(webhook.id, failed.id), status: 409 })
    expect(body.error.message).toContain('not active')
  })
})

describe('recover', () => {
  it('sends all that failed since then again, and nothing else', async () => {
    const { webhook, receiver } = await subscribed(answering(500))
    await createProperty(harness)
    await delivering.settle()
    harness.clock.advance(60_000)
    const since = harness.clock.now().toISOString()
    const lost = [await createProperty(harness), await createProperty(harness)]
    await delivering.settle()
    receiver.answer = answering(200)
    const kept = await createProperty(harness)
    await delivering.settle()
    receiver.received.length = 0
    await scenario({ post: `/v1/webhooks/${webhook.id}/test`, status: 200 })
    const recover = `/v1/webhooks/${webhook.id}/recover`
    await scenario({ post: recover, body: { since }, status: 202, match: { requeued: 2 } })
    await delivering.settle()
    const told = receiver.received.flatMap(({ json }) => (json.event === 'webhook.test' ? [] : json.data.id))
    expect(told.sort()).toEqual(lost.map(({ id }) => id).sort())
    expect(told).not.toContain(kept.id)
    await scenario({ post: recover, body: { since }, status: 202, match: { requeued: 0 } })
    await scenario({ post: recover, body: {}, status: 422, wrong: ['since'] })
    await scenario({ post: recover, body: { since: 'yesterday' }, status: 422, wrong: ['since'] })
    await scenario({ put: `/v1/webhooks/${webhook.id}`, body: { active: false }, status: 200 })
    await scenario({ post: recover, body: { since }, status: 409, error: { code: 'CONFLICT' } })
  })
})

describe('a test', () => {
  it('is sent at once and answered with what the receiver did', async () => {
    const { webhook, receiver } = await subscribed(answering(200, 'fine'), { events: ['unit.sold'] })
    const { data } = await scenario({
      post: `/v1/webhooks/${webhook.id}/test`,
      status: 200,
      match: { status: 'delivered', response_code: 200, error: null },
      events: [],
    })
    expect(data.response_time_ms).toBeGreaterThanOrEqual(0)
    expect(receiver.received[0]!.json).toMatchObject({
      id: expect.stringMatching(/^evt_/),
      event: 'webhook.test',
      workspace_id: harness.tenant.production.id,
    })
    expect(await deliveriesOf(harness, webhook.id)).toMatchObject([
      { id: data.delivery_id, event: 'webhook.test', status: 'delivered', next_retry: null },
    ])
    await scenario({
      get: `/v1/webhooks/${webhook.id}`,
      status: 200,
      match: {
        last_triggered: harness.clock.now().toISOString(),
        stats: { deliveries_total: 1, deliveries_successful: 1, deliveries_failed: 0 },
      },
    })
    await scenario({ get: '/v1/events?event=webhook.test', status: 422, wrong: ['event'] })
  })

  it('with an Idempotency-Key is sent once, and holds no connection to the database while it waits', async () => {
    const { answer, letGo } = holding()
    const { webhook, receiver } = await subscribed(answer)
    const test = { post: `/v1/webhooks/${webhook.id}/test`, headers: { 'idempotency-key': 'test-1' } }
    const first = scenario({ ...test, status: 200 })
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1))
    const open = await harness.sql`
      select pid from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`
    expect(open).toEqual([])
    await scenario({ ...test, status: 409, error: { code: 'CONFLICT' } })
    letGo()
    const { text } = await first
    const again = await scenario({ ...test, status: 200 })
    expect(again.text).toBe(text)
    expect(again.headers['idempotent-replayed']).toBe('true')
    const other = { post: '/v1/webhooks', headers: test.headers, body: { url: receiver.url, events: ['*'] } }
    await scenario({ ...other, status: 422 })
    expect(receiver.received).toHaveLength(1)
    await scenario({
      post: '/v1/webhooks/webhook_01k9x2r4t6v8y0a1c3e5g7j9m1/test',
      headers: { 'idempotency-key': 'test-2' },
      status: 404,
    })
  })

  it('that fails is never retried and never turns the webhook off, whatever the answer', async () => {
    const { webhook, receiver } = await subscribed(answering(410))
    for (let round = 0; round < 6; round++) {
      await scenario({
        post: `/v1/webhooks/${webhook.id}/test`,
        status: 200,
        match: { status: 'failed', response_code: 410, error: expect.stringContaining('410') },
      })
    }
    await delivering.advance(schedule[0]!)
    expect(receiver.received).toHaveLength(6)
    await scenario({
      get: `/v1/webhooks/${webhook.id}`,
      status: 200,
      match: { active: true, stats: { deliveries_total: 6, deliveries_successful: 0, deliveries_failed: 6 } },
    })
    const [failed] = await deliveriesOf(harness, webhook.id)
    await scenario({ post: `/v1/webhooks/${webhook.id}/deliveries/${failed.id}/retry`, status: 409 })
  })

  it('goes to inactive webhooks too', async () => {
    const { webhook, receiver } = await subscribed(answering(200), { active: false })
    await scenario({ post: `/v1/webhooks/${webhook.id}/test`, status: 200, match: { status: 'delivered' } })
    expect(receiver.received).toHaveLength(1)
  })

  it('tells what is wrong with a receiver that is not there', async () => {
    const { webhook, receiver } = await subscribed()
    await receiver.close()
    await scenario({
      post: `/v1/webhooks/${webhook.id}/test`,
      status: 200,
      match: { status: 'failed', response_code: null, error: 'The connection was refused.' },
    })
  })
})
