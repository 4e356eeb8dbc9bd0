import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit, eventsOf } from '../../test/fixtures.ts'
import { useHarness } from '../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

let propertyId: string
let otherPropertyId: string
beforeAll(async () => {
  propertyId = (await createProperty(harness)).id
  otherPropertyId = (await createProperty(harness)).id
})

const request = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
  const headers = { authorization: `Bearer ${harness.tenant.adminKey}` }
  const response = await harness.server().inject({ method, url, headers, ...(payload && { payload }) })
  return { status: response.statusCode, body: response.body === '' ? undefined : response.json() }
}
const statusesOf = (answers: { status: number }[]) => [...new Set(answers.map(({ status }) => status))].sort()
const unitBody = (property_id: string) => ({ property_id, name: 'A-1', price: { amount: 5 } })

describe('thirty changes of one unit at the same moment', () => {
  it('lose nothing when they change different fields', async () => {
    const { id } = await createUnit(harness, propertyId, { size: { interior: 1, land: 1 } })
    const changes = [
      { name: 'New' },
      { unit_number: 'N-1' },
      { type: 'Loft' },
      { status: 'reserved' },
      { bedrooms: 3 },
      { bathrooms: 2 },
      { size: { interior: 80 } },
      { size: { land: 90 } },
      { size: { unit: 'sqft' } },
      { price: { amount: 7.77 } },
      { price: { currency: 'AED' } },
      { features: ['pool'] },
      { floor_plan: 'https://cdn.example.com/p.pdf' },
      { gallery: ['https://cdn.example.com/1.jpg'] },
      { assigned_agent: harness.tenant.ownerId },
    ]
    // Each twice: the second of a pair changes nothing, or finds it done.
    const answers = await Promise.all(
      [...changes, ...changes].map((change) => request('PUT', `/v1/units/${id}`, change)),
    )
    expect(statusesOf(answers)).toEqual([200])
    await scenario({
      get: `/v1/units/${id}`,
      status: 200,
      match: {
        name: 'New',
        unit_number: 'N-1',
        type: 'Loft',
        status: 'reserved',
        bedrooms: 3,
        bathrooms: 2,
        size: { interior: 80, land: 90, unit: 'sqft' },
        price: { amount: 7.77, currency: 'AED' },
        features: ['pool'],
        floor_plan: 'https://cdn.example.com/p.pdf',
        gallery: ['https://cdn.example.com/1.jpg'],
        assigned_agent: harness.tenant.ownerId,
      },
    })
    const told = (await eventsOf(harness, id)).filter(({ event }) => event === 'unit.updated')
    expect(told).toHaveLength(changes.length)
    const [row] = await harness.sql`select version from units where id = ${id}`
    expect(row!.version).toBe(1 + changes.length)
  })

  it('are told one by one, each with the value before it, when they change the same field', async () => {
    const { id } = await createUnit(harness, propertyId, { name: 'start' })
    const names = Array.from({ length: 30 }, (_, at) => `name ${at}`)
    const answers = await Promise.all(names.map((name) => request('PUT', `/v1/units/${id}`, { name })))
    expect(statusesOf(answers)).toEqual([200])
    const told = (await eventsOf(harness, id)).filter(({ event }) => event === 'unit.updated')
    const followers = new Map(told.map(({ data }) => [data.previous.name, data.name]))
    const chain = ['start']
    while (followers.has(chain.at(-1)!)) chain.push(followers.get(chain.at(-1)!)!)
    expect([...chain].sort()).toEqual(['start', ...names].sort())
    await scenario({ get: `/v1/units/${id}`, status: 200, match: { name: chain.at(-1) } })
  })
})

describe('fifty units that come and go at the same moment', () => {
  it('leave the counts right', async () => {
    const { id } = await createProperty(harness)
    const standing = await Promise.all(Array.from({ length: 25 }, () => createUnit(harness, id)))
    const answers = await Promise.all([
      ...Array.from({ length: 25 }, () => request('POST', '/v1/units', unitBody(id))),
      ...standing.slice(0, 15).map((unit) => request('DELETE', `/v1/units/${unit.id}`)),
      ...standing.slice(15, 20).map((unit) => request('PUT', `/v1/units/${unit.id}`, { status: 'sold' })),
      ...standing
        .slice(20)
        .map((unit) => request('PUT', `/v1/units/${unit.id}`, { property_id: otherPropertyId })),
    ])
    expect(statusesOf(answers)).toEqual([200, 201, 204])
    const counts = { units_count: 30, units_available: 25 }
    await scenario({ get: `/v1/properties/${id}`, status: 200, match: counts })
    const { body } = await scenario({ get: `/v1/properties/${id}/units`, status: 200 })
    expect(body.meta.total).toBe(30)
  })

  it('are deleted once each, however many ask for it', async () => {
    const { id } = await createUnit(harness, propertyId)
    const answers = await Promise.all(Array.from({ length: 10 }, () => request('DELETE', `/v1/units/${id}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(404)])
  })
})

describe('a property that is deleted while units are made and changed in it', () => {
  it('leaves no unit behind and breaks no request', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await createProperty(harness)
      const standing = await createUnit(harness, id)
      const [deleted, changed, moved, ...made] = await Promise.all([
        request('DELETE', `/v1/properties/${id}`),
        request('PUT', `/v1/units/${standing.id}`, { name: 'Late' }),
        request('PUT', `/v1/properties/${id}`, { name: 'Late' }),
        ...Array.from({ length: 8 }, () => request('POST', '/v1/units', unitBody(id))),
      ])
      expect(deleted!.status).toBe(200)
      expect([200, 404]).toContain(changed!.status)
      expect([200, 404]).toContain(moved!.status)
      for (const { status, body } of made) {
        expect([201, 422]).toContain(status)
        if (status === 422) expect(body.error.details[0].field).toBe('property_id')
      }
      const orphans = await harness.sql`select id from units where property_id = ${id}`
      expect(orphans).toHaveLength(0)
    }
  })
})

describe('a change and its event', () => {
  it('are written together or not at all', async () => {
    const unit = await createUnit(harness, propertyId)
    await harness.sql`create function fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$`
    await harness.sql`create trigger no_events before insert on events for each row execute function fail()`
    const broken = { status: 500, error: { code: 'INTERNAL_ERROR' } }
    await scenario({ put: `/v1/units/${unit.id}`, body: { status: 'sold' }, ...broken })
    await scenario({ post: '/v1/units', body: unitBody(propertyId), ...broken })
    await harness.sql`drop trigger no_events on events`
    expect((await scenario({ get: `/v1/units/${unit.id}`, status: 200 })).data).toEqual(unit)
    expect(await eventsOf(harness, unit.id)).toHaveLength(1)
    await scenario({
      put: `/v1/units/${unit.id}`,
      body: { status: 'sold' },
      status: 200,
      events: ['unit.sold', 'unit.updated'],
    })
  })
})
