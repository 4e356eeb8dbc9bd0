import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit, eventsOf, inviteGuest } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

let propertyId: string
beforeAll(async () => {
  propertyId = (await createProperty(harness)).id
})

const item = (body: object = {}) => ({ property_id: propertyId, name: 'A-1', price: { amount: 5 }, ...body })
const items = (count: number) => Array.from({ length: count }, (_, at) => item({ name: `U-${at}` }))
const noUnit = `unit_${'0'.repeat(26)}`

describe('creating many units', () => {
  it('creates all of them, each with its event, in a few statements', async () => {
    const { body } = await scenario({
      post: '/v1/units/bulk',
      body: { units: items(100) },
      status: 201,
      events: Array(100).fill('unit.created'),
    })
    expect(body.meta).toEqual({ total: 100, created: 100, failed: 0 })
    expect(body.data.failed).toEqual([])
    expect(body.data.created.map((unit: { name: string }) => unit.name)).toEqual(
      items(100).map(({ name }) => name),
    )
    const [first] = body.data.created
    expect((await scenario({ get: `/v1/units/${first.id}`, status: 200 })).data).toEqual(first)
    expect(await eventsOf(harness, first.id)).toMatchObject([{ event: 'unit.created', data: first }])
  })

  it('creates those that are right, and tells of each that is not', async () => {
    await createUnit(harness, propertyId, { external_id: 'taken' })
    const units = [
      item({ name: 'good 1' }),
      item({ name: undefined, price: { amount: -1 } }),
      item({ property_id: `prop_${'0'.repeat(26)}` }),
      item({ assigned_agent: 'agent_nobody', property_id: 'prop_nowhere' }),
      item({ external_id: 'taken' }),
      item({ external_id: 'mine' }),
      item({ external_id: 'mine' }),
      'not an object',
      null,
      item({ name: 'good 2' }),
    ]
    const { body } = await scenario({
      post: '/v1/units/bulk',
      body: { units },
      status: 207,
      events: ['unit.created', 'unit.created', 'unit.created'],
    })
    expect(body.success).toBe(true)
    expect(body.meta).toEqual({ total: 10, created: 3, failed: 7 })
    const failed = body.data.failed.map(
      (one: { index: number; code: string; details: { field: string }[] }) => [
        one.index,
        one.code,
        one.details.map(({ field }) => field).sort(),
      ],
    )
    expect(failed).toEqual([
      [1, 'VALIDATION_ERROR', ['name', 'price.amount']],
      [2, 'VALIDATION_ERROR', ['property_id']],
      [3, 'VALIDATION_ERROR', ['assigned_agent', 'property_id']],
      [4, 'CONFLICT', ['external_id']],
      [6, 'CONFLICT', ['external_id']],
      [7, 'VALIDATION_ERROR', ['body']],
      [8, 'VALIDATION_ERROR', ['body']],
    ])
  })

  it('is 422 when none can be created', async () => {
    await scenario({
      post: '/v1/units/bulk',
      body: { units: [item({ name: '' }), item({ property_id: 'prop_nowhere' })] },
      status: 422,
      wrong: ['units[0].name', 'units[1].property_id'],
      events: [],
    })
  })

  it.each([{ units: [] }, { units: items(101) }, { units: 'A-1' }, {}])(
    'refuses a list of the wrong length or kind',
    async (body) => {
      await scenario({ post: '/v1/units/bulk', body, status: 422, wrong: ['units'], events: [] })
    },
  )

  it('creates once for an Idempotency-Key', async () => {
    const request = {
      post: '/v1/units/bulk',
      headers: { 'idempotency-key': 'bulk-1' },
      body: { units: [item(), item({ name: '' })] },
    }
    const first = await scenario({ ...request, status: 207, events: ['unit.created'] })
    const again = await scenario({ ...request, status: 207, events: [] })
    expect(again.text).toBe(first.text)
  })

  it('lets nothing stand where the events cannot be written', async () => {
    const before = await harness.sql`select count(*)::int as n from units`
    await harness.sql`create function fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$`
    await harness.sql`create trigger no_events before insert on events for each row execute function fail()`
    await scenario({ post: '/v1/units/bulk', body: { units: items(3) }, status: 500 })
    await harness.sql`drop trigger no_events on events`
    expect(await harness.sql`select count(*)::int as n from units`).toEqual(before)
  })

  it('fails items alone when their property goes away at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const going = await createProperty(harness)
      const [bulk] = await Promise.all([
        harness.server().inject({
          method: 'POST',
          url: '/v1/units/bulk',
          headers: { authorization: `Bearer ${harness.tenant.adminKey}` },
          payload: { units: [item(), item({ property_id: going.id })] },
        }),
        scenario({ delete: `/v1/properties/${going.id}`, status: 200 }),
      ])
      expect([201, 207]).toContain(bulk.statusCode)
    }
  })

  it('gives one external id to one of many that want it at the same moment', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        harness.server().inject({
          method: 'POST',
          url: '/v1/units/bulk',
          headers: { authorization: `Bearer ${harness.tenant.adminKey}` },
          payload: { units: [item({ external_id: 'wanted' }), item()] },
        }),
      ),
    )
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, ...Array(7).fill(207)])
  })
})

describe('an external id', () => {
  it('finds its record, and belongs to one record', async () => {
    const unit = await createUnit(harness, propertyId, { external_id: 'CRM-7' })
    const { data } = await scenario({ get: '/v1/units?external_id=CRM-7', status: 200 })
    expect(data).toEqual([unit])
    const again = { property_id: propertyId, name: 'B', price: { amount: 1 }, external_id: 'CRM-7' }
    await scenario({ post: '/v1/units', body: again, status: 409, error: { code: 'CONFLICT' } })
    const property = await createProperty(harness, { external_id: 'CRM-7' })
    const found = await scenario({ get: '/v1/properties?external_id=CRM-7', status: 200 })
    expect(found.data).toEqual([property])
    const other = await createProperty(harness)
    await scenario({ put: `/v1/properties/${other.id}`, body: { external_id: 'CRM-7' }, status: 409 })
  })
})

describe('changing the status of many units', () => {
  it('changes those that differ, and tells of each', async () => {
    const units = await Promise.all(
      ['available', 'sold', 'reserved'].map((status) => createUnit(harness, propertyId, { status })),
    )
    harness.clock.advance(1_000)
    const { body } = await scenario({
      patch: '/v1/units/bulk/status',
      body: { unit_ids: units.map(({ id }) => id), status: 'sold' },
      status: 200,
      events: ['unit.sold', 'unit.sold', 'unit.updated', 'unit.updated'],
    })
    expect(body.meta).toEqual({ total: 3, updated: 3, failed: 0 })
    const now = harness.clock.now().toISOString()
    expect(body.data.updated).toEqual(
      units.map((unit) => ({
        ...unit,
        status: 'sold',
        updated_at: unit.status === 'sold' ? unit.updated_at : now,
      })),
    )
    for (const unit of body.data.updated)
      expect((await scenario({ get: `/v1/units/${unit.id}`, status: 200 })).data).toEqual(unit)
  })

  it('names those that there are not, private ones for whoever may not see them included', async () => {
    const open = await createUnit(harness, propertyId)
    const hidden = await createUnit(harness, propertyId, { visibility: 'private' })
    const { asGuest } = await inviteGuest(harness, 'admin')
    const as = await harness.createKey(harness.tenant.production, ['write:properties'])
    const unit_ids = [open.id, hidden.id, noUnit, 'prop_1']
    const answer = await scenario({
      as,
      patch: '/v1/units/bulk/status',
      body: { unit_ids, status: 'rented' },
      status: 207,
      events: ['unit.updated'],
    })
    expect(answer.data.failed.map((one: { index: number; code: string }) => [one.index, one.code])).toEqual([
      [1, 'NOT_FOUND'],
      [2, 'NOT_FOUND'],
      [3, 'NOT_FOUND'],
    ])
    const wrong = ['unit_ids[0]']
    await scenario({
      as,
      patch: '/v1/units/bulk/status',
      body: { unit_ids: [hidden.id], status: 'sold' },
      status: 422,
      wrong,
      events: [],
    })
    const all = { unit_ids: [hidden.id], status: 'sold' }
    await scenario({ ...asGuest, patch: '/v1/units/bulk/status', body: all, status: 200 })
  })

  it.each([
    { sent: { status: 'gone' }, wrong: ['status'] },
    { sent: { unit_ids: [] }, wrong: ['unit_ids'] },
    { sent: { unit_ids: [noUnit, noUnit] }, wrong: ['unit_ids'] },
    { sent: { unit_ids: Array.from({ length: 501 }, (_, at) => `unit_${at}`) }, wrong: ['unit_ids'] },
    { sent: { unit_ids: [7] }, wrong: ['unit_ids[0]'] },
  ])('names $wrong as wrong', async ({ sent, wrong }) => {
    const body = { unit_ids: [noUnit], status: 'sold', ...sent }
    await scenario({ patch: '/v1/units/bulk/status', body, status: 422, wrong, events: [] })
  })
})
