import { describe, expect, it } from 'vitest'
import { useDelivering } from '../../test/delivering.ts'
import { createProperty } from '../../test/fixtures.ts'
import { useHarness } from '../../test/harness.ts'
import { newId } from '../kernel/ids.ts'
import { fanOut } from './fan-out.ts'
import { forgetOldEvents } from './retention.ts'

const harness = useHarness()
const delivering = useDelivering(harness)

const insertEvent = (sql = harness.sql, workspaceId = harness.tenant.production.id) => {
  const now = harness.clock.now()
  return sql`
    insert into events (workspace_id, id, event, resource_id, data, created_at)
    values (${workspaceId}, ${newId('evt', now)}, 'unit.created', 'unit_1', '{}', ${now})`
}

const sequences = async (workspaceId = harness.tenant.production.id) =>
  (
    await harness.sql`
      select sequence from events where workspace_id = ${workspaceId} and sequence is not null order by sequence`
  ).map((row) => row.sequence)

describe('the numbers of events', () => {
  it('begin at one in each workspace and leave none out', async () => {
    const other = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'USD' })
    for (let round = 0; round < 3; round++) {
      await Promise.all([insertEvent(), insertEvent(), insertEvent(harness.sql, other.production.id)])
      expect(await fanOut(harness)).toBe(3)
    }
    expect(await sequences()).toEqual([1, 2, 3, 4, 5, 6])
    expect(await sequences(other.production.id)).toEqual([1, 2, 3])
    expect(await fanOut(harness)).toBe(0)
  })

  it('follow the order in which the events came, also among those numbered together', async () => {
    for (let number = 0; number < 5; number++) {
      await insertEvent()
      harness.clock.advance(1_000)
    }
    expect(await fanOut(harness)).toBe(5)
    const rows = await harness.sql`
      select sequence from events where workspace_id = ${harness.tenant.production.id} order by created_at desc limit 5`
    const newest = rows.map(({ sequence }) => sequence)
    expect(newest).toEqual(newest.toSorted((a, b) => b - a))
  })

  it('are not given to what is not committed, nor kept for it', async () => {
    const before = (await sequences()).length
    const { promise: finish, resolve } = Promise.withResolvers<void>()
    const { promise: written, resolve: wrote } = Promise.withResolvers<void>()
    const late = harness.sql.begin(async (tx) => {
      await insertEvent(tx as never)
      wrote()
      await finish
    })
    await written
    await insertEvent()
    expect(await fanOut(harness)).toBe(1)
    expect(await sequences()).toHaveLength(before + 1)
    resolve()
    await late
    expect(await fanOut(harness)).toBe(1)
    expect(await sequences()).toEqual(Array.from({ length: before + 2 }, (_, at) => at + 1))
  })

  it('are never seen before a lower one, whoever numbers and however late a write commits', async () => {
    const { sql } = harness
    let last = (await sequences()).length
    const start = last
    let writing = true
    const writers = Promise.all(
      Array.from({ length: 6 }, (_, writer) =>
        (async () => {
          for (let number = 0; number < 20; number++)
            await sql.begin(async (tx) => {
              await insertEvent(tx as never)
              await tx`select pg_sleep(${(writer * 7 + number) % 5} / 1000.0)`
            })
        })(),
      ),
    ).finally(() => (writing = false))
    const numberers = Promise.all(
      Array.from({ length: 2 }, () =>
        (async () => {
          while (writing || (await fanOut(harness)) > 0) await fanOut(harness)
        })(),
      ),
    )
    const reading = (async () => {
      for (;;) {
        const done = !writing
        const rows = await sql`
          select sequence from events where workspace_id = ${harness.tenant.production.id} and sequence > ${last}
          order by sequence`
        for (const { sequence } of rows) expect(sequence).toBe(++last)
        if (done && last === start + 120) return
      }
    })()
    await Promise.all([writers, numberers, reading])
    expect(last).toBe(start + 120)
  })

  it('go on where they were after old events are gone', async () => {
    const before = (await sequences()).at(-1)!
    harness.clock.advance(31 * 86_400_000)
    await forgetOldEvents(harness)
    expect(await sequences()).toEqual([])
    await insertEvent()
    await fanOut(harness)
    expect(await sequences()).toEqual([before + 1])
  })
})

describe('a webhook', () => {
  it.each([
    [{ events: ['unit.created'] }, 1],
    [{ events: ['*'] }, 1],
    [{ events: ['unit.sold', 'lead.created'] }, 0],
    [{ events: ['unit.created'], active: false }, 0],
  ])('with %j gets %i of one event', async (wishes, expected) => {
    const body = { url: 'https://hooks.example.com/x', ...wishes }
    const { data } = await harness.scenario({ post: '/v1/webhooks', body, status: 201 })
    await insertEvent()
    await fanOut(harness)
    const queued = await harness.sql`select id from deliveries where webhook_id = ${data.id}`
    expect(queued).toHaveLength(expected)
    await harness.scenario({ delete: `/v1/webhooks/${data.id}`, status: 204 })
  })
})

describe('retention', () => {
  it('keeps events and deliveries for thirty days, and events that were never sent for as long as it takes', async () => {
    const receiver = await delivering.receiver()
    await harness.scenario({ post: '/v1/webhooks', body: { url: receiver.url, events: ['*'] }, status: 201 })
    const { id } = await createProperty(harness)
    await delivering.settle()
    const left = async () => {
      const [row] = await harness.sql`
        select (select count(*)::int from events where resource_id = ${id}) as events,
          (select count(*)::int from deliveries) as deliveries`
      return row
    }
    harness.clock.advance(30 * 86_400_000)
    await forgetOldEvents(harness)
    expect(await left()).toEqual({ events: 1, deliveries: 1 })
    harness.clock.advance(1)
    await forgetOldEvents(harness)
    expect(await left()).toEqual({ events: 0, deliveries: 0 })
    await insertEvent()
    harness.clock.advance(60 * 86_400_000)
    await forgetOldEvents(harness)
    expect(await fanOut(harness)).toBe(1)
  })
})
