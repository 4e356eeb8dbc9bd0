import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

const inventory = [
  { name: 'A', type: 'villa', location: { area: 'Schwabing', city: 'München', country: 'DE' } },
  {
    name: 'B',
    type: 'villa',
    status: 'completed',
    location: { area: 'Marina', city: 'Dubai', country: 'AE' },
    pricing: { min_price: 100, max_price: 200 },
  },
  {
    name: 'C',
    type: 'land',
    status: 'archived',
    location: { city: 'Marina', country: 'US' },
    pricing: { min_price: 200.01, max_price: 300 },
  },
  { name: 'D', type: 'land', status: 'sold_out', pricing: { min_price: 500 } },
  { name: 'E', type: 'commercial', pricing: { max_price: 50 } },
]

beforeAll(async () => {
  for (const property of inventory) await createProperty(harness, property)
})

describe('a list of properties', () => {
  it.each([
    ['', 'ABCDE'],
    ['status=completed', 'B'],
    ['status=completed,archived', 'BC'],
    ['status=under_construction', ''],
    ['type=villa', 'AB'],
    ['type=villa,commercial', 'ABE'],
    ['type=land&status=archived', 'C'],
    ['location=marina', 'BC'],
    ['location=MÜNCHEN', 'A'],
    ['location=schwabing', 'A'],
    ['location=Mar', ''],
    ['location=M%25', ''],
    ['location=Mar_na', ''],
    ["location=x'%20or%20'1'%3D'1", ''],
    ['location=', ''],
    ['min_price=200', 'BCD'],
    ['min_price=200.01', 'CD'],
    ['max_price=100', 'BE'],
    ['max_price=99.99', 'E'],
    ['min_price=150&max_price=250', 'BC'],
    ['min_price=301&max_price=499', ''],
    ['min_price=0', 'BCDE'],
  ])('with ?%s holds %s', async (query, names) => {
    const { data, body } = await scenario({ get: `/v1/properties?${query}`, status: 200 })
    expect(
      data
        .map(({ name }: { name: string }) => name)
        .sort()
        .join(''),
    ).toBe(names)
    expect(body.meta.total).toBe(names.length)
  })

  it.each([
    ['status=open', 'status'],
    ['status=', 'status'],
    ['status=completed,', 'status'],
    ['type=villa,castle', 'type'],
    ['min_price=cheap', 'min_price'],
    ['min_price=', 'min_price'],
    ['max_price=-1', 'max_price'],
    ['max_price=1e5', 'max_price'],
    ['search=Marina', 'search'],
    ['type=villa&type=land', 'type'],
  ])('refuses ?%s', async (query, field) => {
    await scenario({ get: `/v1/properties?${query}`, status: 422, wrong: [field] })
  })

  it('carries the same records as GET of each', async () => {
    const { data } = await scenario({ get: '/v1/properties', status: 200 })
    await createUnit(harness, data[0].id)
    await createUnit(harness, data[0].id, { status: 'sold' })
    const listed = (await scenario({ get: '/v1/properties', status: 200 })).data
    expect(listed[0]).toMatchObject({ units_count: 2, units_available: 1 })
    for (const property of listed) {
      expect((await scenario({ get: `/v1/properties/${property.id}`, status: 200 })).data).toEqual(property)
    }
  })
})
