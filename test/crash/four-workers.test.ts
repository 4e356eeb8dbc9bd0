import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Attempt } from '../../src/kernel/courier.ts'
import { useHarness } from '../harness.ts'
import { Receiver } from '../receiver.ts'
import { Cluster, insertEvents, rounds, untilDelivered } from './cluster.ts'

const harness = useHarness()
// Patient, or a slow receiver would be turned off before the end.
const cluster = new Cluster(harness, {
  WEBHOOK_TIMEOUT: '1s',
  WEBHOOK_RETRY_DELAYS: Array(40).fill('200ms').join(),
})
// The lease of these workers is 3 × 1 s + 10 s; this answer would come after it.
const longerThanTheLeaseMs = 14_000

let receiver: Receiver
beforeAll(async () => {
  await cluster.open()
  receiver = await Receiver.open(({ json }, response) => {
    const kind = json.data.slow ? Math.random() : 1
    const answerAfterMs = kind < 0.4 ? longerThanTheLeaseMs : kind < 0.7 ? 700 : 0
    setTimeout(() => response.writeHead(200).end(), answerAfterMs)
  })
})
afterAll(async () => {
  await cluster.close()
  await receiver.close()
})

/** When attempts began and ended, by the clock that all workers of this machine share. */
const spansOf = (attempts: Attempt[]) =>
  attempts
    .map(({ timestamp, duration_ms }) => ({
      from: Date.parse(timestamp),
      to: Date.parse(timestamp) + duration_ms,
    }))
    .sort((a, b) => a.from - b.from)

/** When it was received and what was recorded of it, to tell a second attempt from two at once. */
const storyOf = (eventId: string, attempts: Attempt[]) =>
  JSON.stringify({
    received: receiver.received
      .filter(({ json }) => json.id === eventId)
      .map(({ at }) => new Date(performance.timeOrigin + at).toISOString()),
    recorded: attempts.map(({ timestamp, duration_ms, error }) => [timestamp, duration_ms, error]),
  })

it(
  'four workers on one database: no delivery is tried by two at once, even when receivers are slow',
  async () => {
    const api = await cluster.serve()
    await cluster.subscribe(receiver.url)
    await cluster.end(api, 'SIGTERM')
    await Promise.all(Array.from({ length: 4 }, () => cluster.work()))

    const ids: string[] = []
    for (let wave = 0; wave < 3 * rounds; wave++) {
      ids.push(...(await insertEvents(harness, 80)))
      ids.push(...(await insertEvents(harness, 10, { slow: true })))
    }
    await untilDelivered(harness.sql, 60_000 * rounds)

    const rows = await harness.sql`select event_id, status, attempts from deliveries`
    expect(rows).toHaveLength(ids.length)
    const seen = receiver.counts()
    for (const { event_id, attempts } of rows) {
      // An attempt that two had made would be recorded once and seen twice.
      expect(seen.get(event_id) ?? 0, storyOf(event_id, attempts)).toBeLessThanOrEqual(attempts.length)
      const spans = spansOf(attempts)
      for (const [at, { from }] of spans.entries())
        if (at > 0) expect(from, event_id).toBeGreaterThanOrEqual(spans[at - 1]!.to)
    }
    expect(rows.filter(({ attempts }) => attempts.length > 1).length).toBeGreaterThan(0)
    const delivered = rows.filter(({ status }) => status === 'delivered')
    expect(delivered.length).toBeGreaterThan(0.95 * ids.length)
  },
  120_000 * rounds,
)
