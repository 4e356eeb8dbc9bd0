import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { aProperty } from '../fixtures.ts'
import { useHarness } from '../harness.ts'
import type { RunningProcess } from '../process.ts'
import { Receiver } from '../receiver.ts'
import { Cluster, randomBetween, rounds, until, untilDelivered } from './cluster.ts'

const harness = useHarness()
const concurrency = 16
const cluster = new Cluster(harness, {
  WEBHOOK_CONCURRENCY: String(concurrency),
  WEBHOOK_HOST_CONCURRENCY: '8',
})
let receiver: Receiver
beforeAll(async () => {
  await cluster.open()
  receiver = await Receiver.open()
})
afterAll(async () => {
  await cluster.close()
  await receiver.close()
})

/** Changes that never come to be: what they tell of must not be told. */
async function rollBack(): Promise<string> {
  const { sql, tenant } = harness
  const id = newId('prop', new Date())
  await sql
    .begin(async (tx) => {
      await tx`
        insert into events (workspace_id, id, event, resource_id, data, created_at)
        values (${tenant.production.id}, ${newId('evt', new Date())}, 'property.created', ${id},
          ${JSON.stringify({ id })}::text::json, now())`
      await sleep(randomBetween(0, 20))
      throw new Error('rolled back')
    })
    .catch(() => {})
  return id
}

const answered = new Set<string>()

/** At random moments, but not before there was something to lose. */
async function killAndRestart(running: RunningProcess, start: () => Promise<RunningProcess>): Promise<void> {
  let current = running
  for (let round = 0; round < 2 * rounds; round++) {
    const before = answered.size
    await until('changes are taken', () => answered.size >= before + 5, 60_000)
    await sleep(randomBetween(0, 500))
    await cluster.kill(current)
    current = await start()
  }
}

it(
  'worker and API killed at random moments: every committed change is told, and no other',
  async () => {
    const [api, worker] = await Promise.all([cluster.serve(), cluster.work()])
    await cluster.subscribe(receiver.url, ['property.created'])

    let loading = true
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (loading) {
          const answer = await cluster.call('POST', '/v1/properties', aProperty)
          if (answer?.status === 201) answered.add(answer.data.id)
          await rollBack()
          // Within the limits of the plan.
          await sleep(answer?.status === 201 ? 40 : 200)
        }
      }),
    )
    await Promise.all([
      killAndRestart(worker, () => cluster.work()),
      killAndRestart(api, () => cluster.serve()),
    ])
    loading = false
    await load
    await untilDelivered(harness.sql, 60_000)

    const committed = (await harness.sql`select id from properties`).map(({ id }) => id)
    const told = new Set(receiver.received.map(({ json }) => json.data.id))
    expect(answered.size).toBeGreaterThan(10)
    expect([...answered].filter((id) => !committed.includes(id))).toEqual([])
    expect([...told].sort()).toEqual([...committed].sort())

    // An event told twice is the same event: the same id and the same bytes.
    const bodies = Map.groupBy(receiver.received, ({ json }) => json.id)
    for (const copies of bodies.values()) expect(new Set(copies.map(({ body }) => body)).size).toBe(1)
    expect(bodies.size).toBe(committed.length)
    const duplicates = receiver.received.length - bodies.size
    expect(duplicates).toBeLessThanOrEqual(cluster.kills * concurrency)
  },
  150_000 * rounds,
)
