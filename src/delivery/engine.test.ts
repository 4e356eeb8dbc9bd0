import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { createWebhook, deliveriesOf, limits, useDelivering } from '../../test/delivering.ts'
import { createProperty } from '../../test/fixtures.ts'
import { useHarness } from '../../test/harness.ts'
import { answering, holding } from '../../test/receiver.ts'
import { startWorker } from '../worker.ts'
import { buildWorkerServer } from '../worker-server.ts'
import { Canary } from './canary.ts'
import { createDeliveryEngine } from './engine.ts'
import { Hosts, type Pace } from './hosts.ts'
import { Bell } from './wake.ts'

const harness = useHarness()
const { scenario } = harness
const delivering = useDelivering(harness)

const silent = pino({ level: 'silent' })
const metricsOf = async () => (await delivering.engine.registry.metrics()).split('\n')

const startedWorker = () =>
  startWorker({ ...harness, log: silent, demoData: false, mailer: undefined, limits } as never)

describe('a worker', () => {
  it('writes nothing about a delivery that another has taken over meanwhile', async () => {
    const { answer, letGo } = holding()
    const receiver = await delivering.receiver(answer)
    const { id } = await createWebhook(harness, receiver.url)
    const worker = startedWorker()
    await createProperty(harness)
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 10_000 })
    await harness.sql`update deliveries set claim = 'another worker' where webhook_id = ${id}`
    letGo()
    await worker.stop()
    const [delivery] =
      await harness.sql`select claim, status, attempts from deliveries where webhook_id = ${id}`
    expect(delivery).toMatchObject({ claim: 'another worker', status: null, attempts: [] })
    const { data: webhook } = await scenario({ get: `/v1/webhooks/${id}`, status: 200 })
    expect(webhook.stats.deliveries_total).toBe(0)
    await scenario({ delete: `/v1/webhooks/${id}`, status: 204 })
  })

  it('delivers by itself within moments of the change, and finishes what it began before it stops', async () => {
    const { answer, letGo } = holding()
    const receiver = await delivering.receiver(answer)
    const { id } = await createWebhook(harness, receiver.url)
    const worker = startedWorker()
    const server = buildWorkerServer({ sql: harness.sql, log: silent, worker })
    try {
      await createProperty(harness)
      await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 10_000 })
      const ready = await server.inject('/readyz')
      expect(ready.json()).toMatchObject({ status: 'ready', checks: { worker: { ok: true } } })
      expect((await server.inject('/metrics')).body).toContain('plotbase_delivery_queue')
    } finally {
      const stopping = worker.stop()
      await sleep(50)
      letGo()
      await stopping
      await server.close()
    }
    expect(await deliveriesOf(harness, id)).toMatchObject([{ status: 'delivered' }])
    await createProperty(harness)
    await sleep(300)
    expect(receiver.received).toHaveLength(1)
    await scenario({ delete: `/v1/webhooks/${id}`, status: 204 })
  })

  it('is red on /readyz when something waits and nothing moves', async () => {
    const worker = startedWorker()
    const server = buildWorkerServer({ sql: harness.sql, log: silent, worker })
    const stuck = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000)
    const answer = await server.inject('/readyz')
    stuck.mockRestore()
    expect(answer.statusCode).toBe(503)
    expect(answer.json().checks.worker.ok).toBe(false)
    await worker.stop()
    await server.close()
  })
})

describe('a claim', () => {
  it('that waited too long for its turn is left to whoever takes it next', async () => {
    const { promise: answer, resolve } = Promise.withResolvers<void>()
    const tried: string[] = []
    const courier = {
      ...harness.courier,
      deliver: async ({ event }: { event: { id: string } }) => {
        tried.push(event.id)
        await answer
        const attempt = { response_code: 200, duration_ms: 1, error: null, response_body: '' }
        return {
          attempt: { ...attempt, timestamp: harness.clock.now().toISOString() },
          result: 'delivered',
          retryAfterMs: null,
        }
      },
    } as never
    const one = { ...limits, concurrencyPerHost: 1 }
    const engine = createDeliveryEngine({ ...harness, log: silent, courier, limits: one })
    await delivering.settle()
    const { id } = await createWebhook(harness, 'https://hooks.example.com/slow')
    await createProperty(harness)
    await createProperty(harness)
    await delivering.fanOut()
    await engine.deliver()
    expect(tried).toHaveLength(1)
    const later = performance.now() + 3 * limits.timeoutMs + 10_000
    const clock = vi.spyOn(performance, 'now').mockReturnValue(later)
    resolve()
    await sleep(20)
    clock.mockRestore()
    await engine.drain()
    expect(tried).toHaveLength(1)
    const [left] = await harness.sql`
      select count(*)::int as waiting from deliveries where webhook_id = ${id} and due_at is not null`
    expect(left!.waiting).toBe(1)
    await scenario({ delete: `/v1/webhooks/${id}`, status: 204 })
  })
})

describe('metrics', () => {
  it('tell of the queue, its oldest, attempts and the time to the first', async () => {
    const receiver = await delivering.receiver(answering(500))
    const { id } = await createWebhook(harness, receiver.url)
    await createProperty(harness)
    harness.clock.advance(90_000)
    await delivering.engine.watch()
    expect(await metricsOf()).toEqual(
      expect.arrayContaining([
        'plotbase_delivery_queue{kind="event"} 1',
        'plotbase_delivery_oldest_waiting_seconds 90',
      ]),
    )
    await delivering.settle()
    await delivering.engine.watch()
    expect(await metricsOf()).toEqual(
      expect.arrayContaining([
        'plotbase_delivery_queue{kind="event"} 0',
        'plotbase_delivery_queue{kind="due"} 0',
        'plotbase_delivery_queue{kind="later"} 1',
        'plotbase_delivery_oldest_waiting_seconds 0',
        'plotbase_delivery_attempts_total{result="5xx"} 1',
        'plotbase_delivery_latency_seconds_sum 90',
      ]),
    )
    await scenario({ delete: `/v1/webhooks/${id}`, status: 204 })
  })
})

describe('the canaries', () => {
  it('of events that go on do not cover for deliveries that do not', async () => {
    const { id } = await createWebhook(harness, 'https://hooks.example.com/never-tried')
    await createProperty(harness)
    await delivering.fanOut()
    harness.clock.advance(120_000)
    await delivering.engine.watch()
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_001)
    await createProperty(harness)
    await delivering.engine.fanOut()
    expect(delivering.engine.isMoving()).toBe(false)
    clock.mockRestore()
    await scenario({ delete: `/v1/webhooks/${id}`, status: 204 })
    await delivering.engine.watch()
    expect(delivering.engine.isMoving()).toBe(true)
  })
})

describe('the canary', () => {
  it('sings unless something has waited a minute and nothing was done for as long', () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
    const canary = new Canary()
    const at = (ms: number) => clock.mockReturnValue(ms)
    canary.sees(59)
    at(1_000_000)
    expect(canary.isSinging()).toBe(true)
    canary.sees(61)
    expect(canary.isSinging()).toBe(false)
    canary.moved()
    expect(canary.isSinging()).toBe(true)
    at(1_060_001)
    expect(canary.isSinging()).toBe(false)
    canary.sees(0)
    expect(canary.isSinging()).toBe(true)
    clock.mockRestore()
  })
})

describe('hosts', () => {
  const opened = (perHost: number, most: number) => {
    const running: string[] = []
    const ends = new Map<string, (pace: Pace) => void>()
    const hosts = new Hosts<string>(perHost, most, (item) => {
      running.push(item)
      return new Promise((resume) => ends.set(item, resume))
    })
    const end = async (item: string, pace: Pace = 'quick') => {
      running.splice(running.indexOf(item), 1)
      ends.get(item)!(pace)
      await sleep(0)
    }
    const add = (...items: string[]) => {
      for (const item of items) hosts.add(item[0]!, item)
    }
    return { hosts, running, end, add }
  }

  it('have a share of their own within the whole, which is small until they have answered', async () => {
    const { hosts, running, end, add } = opened(4, 6)
    add('a1', 'a2', 'a3', 'b1')
    expect(running).toEqual(['a1', 'b1'])
    expect(hosts.usualRoom).toBe(2)
    await end('a1')
    await end('b1')
    add('a4', 'a5', 'a6', 'a7', 'b2', 'b3')
    expect(running).toEqual(['a2', 'a3', 'a4', 'a5', 'b2', 'b3'])
    expect(hosts.rooms()).toEqual(new Map(Object.entries({ a: 2, b: 6 })))
    add('b4')
    await end('a2')
    expect(running.at(-1)).toBe('b4')
  })

  it('keep two places when they let attempts time out, until they answer again', async () => {
    const { hosts, running, end, add } = opened(8, 100)
    add('a0')
    await end('a0')
    add(...Array.from({ length: 16 }, (_, at) => `a${at + 1}`))
    expect(running).toHaveLength(8)
    for (const item of ['a1', 'a2', 'a3']) await end(item, 'silent')
    expect(hosts.size).toBe(9)
    expect(hosts.rooms()).toEqual(new Map([['a', 0]]))
    for (const item of [...running]) await end(item, 'silent')
    expect(running).toHaveLength(2)
    await end(running[0]!)
    add(...Array.from({ length: 16 }, (_, at) => `a${at + 100}`))
    expect(running).toHaveLength(8)
  })

  it('start nothing more when they are drained', async () => {
    const { hosts, running, end, add } = opened(1, 1)
    add('a1', 'a2')
    const drained = hosts.drain()
    add('c1')
    await end('a1')
    await drained
    expect(running).toEqual([])
  })
})

describe('a bell', () => {
  it('cuts a wait short, is remembered when nobody waits, and gives way to a stop', async () => {
    const bell = new Bell()
    const stopping = new AbortController()
    bell.ring()
    await bell.wait(60_000, stopping.signal)
    setTimeout(bell.ring, 5)
    await bell.wait(60_000, stopping.signal)
    setTimeout(() => stopping.abort(), 5)
    await bell.wait(60_000, stopping.signal)
    await bell.wait(60_000, stopping.signal)
  })
})
