import { beforeAll, describe, expect, it, vi } from 'vitest'
import { contextFor } from '../../test/context.ts'
import { aProperty, createProperty } from '../../test/fixtures.ts'
import { useHarness } from '../../test/harness.ts'
import { createUnit } from '../features/units/service.ts'
import { inWorkspace } from './context.ts'
import { created } from './endpoint.ts'
import { errorAnswer } from './envelope.ts'
import { ApiError } from './errors.ts'
import { once } from './idempotency.ts'

const harness = useHarness()
const { scenario } = harness

const hour = 3_600_000
let propertyId: string
beforeAll(async () => {
  propertyId = (await createProperty(harness)).id
})

let used = 0
const newKey = () => `key-${++used}`
const unitBody = () => ({ property_id: propertyId, name: 'A-1', price: { amount: 5 } })
const post = (key: string, status: number, more: object = {}) =>
  scenario({ post: '/v1/units', headers: { 'idempotency-key': key }, body: unitBody(), status, ...more })
const unitCount = async () => (await harness.sql`select count(*)::int as n from units`)[0]!.n

describe('a POST with an Idempotency-Key', () => {
  it('is done once, and its answer given again for 24 hours', async () => {
    const key = newKey()
    const first = await post(key, 201, { events: ['unit.created'] })
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    harness.clock.advance(24 * hour - 1)
    const again = await post(key, 201, { events: [] })
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.text).toBe(first.text)
    expect(again.headers).toMatchObject({ location: first.headers.location, etag: first.headers.etag })

    harness.clock.advance(1)
    const anew = await post(key, 201, { events: ['unit.created'] })
    expect(anew.headers['idempotent-replayed']).toBeUndefined()
    expect(anew.data.id).not.toBe(first.data.id)
    const newest = await post(key, 201, { events: [] })
    expect(newest.text).toBe(anew.text)
  })

  it('gives its first answer though the record has changed or gone', async () => {
    const key = newKey()
    const { data } = await post(key, 201)
    await scenario({ delete: `/v1/units/${data.id}`, status: 204 })
    expect((await post(key, 201, { events: [] })).data).toEqual(data)
  })

  it('is refused for another body, path or query', async () => {
    const key = newKey()
    await post(key, 201)
    const headers = { 'idempotency-key': key }
    const refused = { headers, status: 422, wrong: ['Idempotency-Key'], events: [] }
    await scenario({ post: '/v1/units', body: { ...unitBody(), name: 'B' }, ...refused })
    await scenario({ post: '/v1/properties', body: aProperty, ...refused })
    await scenario({ post: '/v1/properties', body: unitBody(), ...refused })
    await post(key, 201, { events: [] })
  })

  it('keeps refusals too, and undoes what they had begun', async () => {
    for (const body of [
      { ...unitBody(), property_id: 'prop_none' },
      { ...unitBody(), name: '' },
      { name: 'no price' },
    ]) {
      const key = newKey()
      const first = await post(key, 422, { body, events: [] })
      const again = await post(key, 422, { body, events: [] })
      expect(again.text).toBe(first.text)
      expect(again.headers['idempotent-replayed']).toBe('true')
      await post(key, 422, { wrong: ['Idempotency-Key'], events: [] })
    }
  })

  it('belongs to its workspace', async () => {
    const other = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'USD' })
    const key = newKey()
    const headers = { 'idempotency-key': key }
    const ours = await scenario({ post: '/v1/properties', headers, body: aProperty, status: 201 })
    const elsewhere = {
      post: '/v1/properties',
      headers,
      body: aProperty,
      status: 201,
      events: ['property.created'],
    }
    const theirs = await scenario({ as: other.adminKey, ...elsewhere })
    const sandbox = await scenario({ as: harness.tenant.testKey, on: 'sandbox', ...elsewhere })
    expect(new Set([ours, theirs, sandbox].map(({ data }) => data.id)).size).toBe(3)
    const sibling = await harness.createKey(harness.tenant.production, ['write:properties'])
    const again = await scenario({
      as: sibling,
      post: '/v1/properties',
      headers,
      body: aProperty,
      status: 201,
    })
    expect(again.text).toBe(ours.text)
  })

  it.each(['', 'x'.repeat(256)])('is refused when the key is empty or too long', async (key) => {
    await post(key, 422, { wrong: ['Idempotency-Key'], events: [] })
  })

  it('may have a key of 255 characters, and of characters that mean something in SQL', async () => {
    for (const key of ['k'.repeat(255), "'; drop table units; --", '%_\\"']) {
      const first = await post(key, 201)
      expect((await post(key, 201, { events: [] })).text).toBe(first.text)
    }
  })

  it('is ignored on other methods', async () => {
    const key = newKey()
    const { data } = await post(key, 201)
    const headers = { 'idempotency-key': key }
    await scenario({ put: `/v1/units/${data.id}`, headers, body: { name: 'B' }, status: 200 })
    await scenario({ get: `/v1/units/${data.id}`, headers, status: 200, match: { name: 'B' } })
    await scenario({ delete: `/v1/units/${data.id}`, headers, status: 204 })
  })
})

describe('two POSTs with one Idempotency-Key at the same time', () => {
  const waiting = async () =>
    (
      await harness.sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into units%'`
    )[0]

  /** Holds the property's row, so that creating a unit in it waits until `work` is done. */
  const whileStuck = (work: () => Promise<unknown>) =>
    harness.sql.begin(async (sql) => {
      await sql`select from properties where id = ${propertyId} for update`
      await work()
    })

  it('are one that runs and one that is told to wait', async () => {
    const key = newKey()
    let running: ReturnType<typeof post> | undefined
    await whileStuck(async () => {
      running = post(key, 201)
      await vi.waitFor(async () => expect(await waiting()).toBeDefined(), { timeout: 5_000 })
      await post(key, 409, { error: { code: 'CONFLICT' }, events: [] })
      await post(newKey(), 422, { body: {} })
    })
    const first = await running!
    expect((await post(key, 201, { events: [] })).text).toBe(first.text)
  })

  it('never make two records, however many there are', async () => {
    const key = newKey()
    const before = await unitCount()
    const headers = { authorization: `Bearer ${harness.tenant.adminKey}`, 'idempotency-key': key }
    const answers = await Promise.all(
      Array.from({ length: 30 }, () =>
        harness.server().inject({ method: 'POST', url: '/v1/units', headers, payload: unitBody() }),
      ),
    )
    const statuses = answers.map(({ statusCode }) => statusCode)
    expect(new Set(statuses.filter((status) => status !== 409))).toEqual(new Set([201]))
    const ids = answers.filter(({ statusCode }) => statusCode === 201).map((answer) => answer.json().data.id)
    expect(new Set(ids).size).toBe(1)
    expect(await unitCount()).toBe(before + 1)
  })
})

describe('work that fails on our side', () => {
  const eventCount = async () => (await harness.sql`select count(*)::int as n from events`)[0]!.n

  it.each([
    ['throws', new Error('crash')],
    ['is unavailable', new ApiError('UNAVAILABLE', 'later')],
    ['meets a limit', new ApiError('RATE_LIMIT_EXCEEDED', 'later', { retryAfterSeconds: 1 })],
  ])('and %s after writing leaves nothing, and its key free', async (_how, failure) => {
    const ctx = contextFor(harness)
    const idempotent = { key: newKey(), fingerprint: 'POST' }
    const before = [await unitCount(), await eventCount()]
    let fails = true
    const run = () =>
      once(
        ctx,
        idempotent,
        async (inner) => {
          const { record } = await inWorkspace(inner, (tx) => createUnit(tx, unitBody()))
          if (fails) throw failure
          return created(record, '/v1/units')
        },
        (error) => errorAnswer(error),
      )
    await expect(run()).rejects.toBe(failure)
    expect([await unitCount(), await eventCount()]).toEqual(before)
    fails = false
    const { headers } = await run()
    expect(headers).not.toHaveProperty('idempotent-replayed')
    expect((await run()).headers).toHaveProperty('idempotent-replayed', 'true')
    expect([await unitCount(), await eventCount()]).toEqual(before.map((count) => count + 1))
  })

  it('between the record and its answer leaves neither', async () => {
    const key = newKey()
    await harness.sql`create function fail() returns trigger language plpgsql as $$ begin raise 'crash'; end $$`
    await harness.sql`create trigger crash before insert on idempotency_keys for each row execute function fail()`
    const { body } = await post(key, 500, { error: { code: 'INTERNAL_ERROR' }, events: [] })
    expect(JSON.stringify(body)).not.toContain('crash')
    await harness.sql`drop trigger crash on idempotency_keys`
    const { headers } = await post(key, 201, { events: ['unit.created'] })
    expect(headers['idempotent-replayed']).toBeUndefined()
  })
})
