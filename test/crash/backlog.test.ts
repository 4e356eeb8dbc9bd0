import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useHarness } from '../harness.ts'
import { Receiver } from '../receiver.ts'
import { Cluster, insertEvents, percentile, rounds, until, untilDelivered } from './cluster.ts'

const harness = useHarness()
const cluster = new Cluster(harness, { WEBHOOK_TIMEOUT: '5s' })
// CRASH_ROUNDS=10 makes it a hundred thousand.
const backlog = 10_000 * rounds
const freshAt = new Map<string, number>()
const old = new Set<string>()
let receiver: Receiver
beforeAll(async () => {
  await cluster.open()
  receiver = await Receiver.open(({ json, at }, response) => {
    if (json.data.fresh) freshAt.set(json.id, performance.timeOrigin + at)
    else old.add(json.id)
    receiver.received.length = 0
    response.writeHead(200).end()
  })
})
afterAll(async () => {
  await cluster.close()
  await receiver.close()
})

it(
  'a long backlog drains while fresh events arrive promptly at the same receiver',
  async () => {
    const { sql, tenant } = harness
    const api = await cluster.serve()
    const webhookId = await cluster.subscribe(receiver.url)
    await cluster.end(api, 'SIGTERM')
    for (let written = 0; written < backlog; written += 10_000) {
      await sql`
        with told as (
          insert into events (workspace_id, id, event, resource_id, data, created_at, sequence)
          select ${tenant.production.id}, 'evt_old' || (${written} + n), 'unit.created', 'unit_1', '{"old":true}', now(), 1000000 + ${written} + n
          from generate_series(1, 10000) as n returning workspace_id, id, event)
        insert into deliveries (workspace_id, id, webhook_id, event_id, event, created_at, due_at)
        select workspace_id, 'del_' || id, ${webhookId}, id, event, now(), now() - interval '1 hour' from told`
    }
    await cluster.work()
    await until('the backlog begins to drain', () => old.size > 100, 10_000)

    const latencies: number[] = []
    while (old.size < backlog * 0.9 && latencies.length < 100) {
      const [id] = await insertEvents(harness, 1, { fresh: true })
      const writtenAt = performance.timeOrigin + performance.now()
      await until('a fresh event arrives', () => freshAt.has(id!), 10_000)
      latencies.push(freshAt.get(id!)! - writtenAt)
      await sleep(100)
    }
    expect(latencies.length, 'the backlog was gone before anything could be measured').toBeGreaterThan(2)
    // Nobody notifies here: a second of polling is in it.
    expect(percentile(latencies, 0.95)).toBeLessThan(3_000)
    await untilDelivered(sql, 60_000 * rounds)
    expect(old.size).toBe(backlog)
  },
  150_000 * rounds,
)
