import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

let propertyId: string
let emptyId: string
beforeAll(async () => {
  propertyId = (await createProperty(harness)).id
  emptyId = (await createProperty(harness)).id
  const elsewhere = (await createProperty(harness)).id
  const units = [
    { name: 'A', bedrooms: 2, price: { amount: 100 }, size: { interior: 50, land: 500 } },
    { name: 'B', bedrooms: 2.5, price: { amount: 200 }, size: { interior: 80.5 }, status: 'sold' },
    { name: 'C', price: { amount: 200.01 }, status: 'reserved', visibility: 'private' },
    { name: 'D', bedrooms: 0, price: { amount: 300 }, size: { land: 900 }, visibility: 'public' },
    { name: 'E', property_id: elsewhere, assigned_agent: harness.tenant.ownerId, status: 'rented' },
  ]
  for (const unit of units) await createUnit(harness, propertyId, unit)
})

const namesOf = (data: { name: string }[]) =>
  data
    .map(({ name }) => name)
    .sort()
    .join('')

const filters: [() => string, string][] = [
  [() => '', 'ABCDE'],
  [() => `property_id=${propertyId}`, 'ABCD'],
  [() => `property_id=${emptyId}`, ''],
  [() => "property_id=prop_'%20or%201%3D1--", ''],
  [() => 'status=sold', 'B'],
  [() => 'status=sold,reserved,off_market', 'BC'],
  [() => 'visibility=private', 'C'],
  [() => 'visibility=private,public', 'CD'],
  [() => `agent_id=${harness.tenant.ownerId}`, 'E'],
  [() => 'agent_id=agent_none', ''],
  [() => 'min_price=200', 'BCDE'],
  [() => 'max_price=200', 'AB'],
  [() => 'min_price=200&max_price=200.01', 'BC'],
  [() => 'bedrooms=2', 'A'],
  [() => 'bedrooms=2.5', 'B'],
  [() => 'bedrooms=0', 'D'],
  [() => 'min_size=50', 'AB'],
  [() => 'min_size=80.5', 'B'],
  [() => 'min_size=50&status=available&max_price=150', 'A'],
]

describe('a list of units', () => {
  it.each(filters.map(([query, names], at) => ({ at, query, names })))(
    'filter $at holds $names',
    async ({ query, names }) => {
      const { data, body } = await scenario({ get: `/v1/units?${query()}`, status: 200 })
      expect(namesOf(data), query()).toBe(names)
      expect(body.meta.total).toBe(names.length)
    },
  )

  it.each([
    ['status=open', 'status'],
    ['status=sold,', 'status'],
    ['visibility=agents,all', 'visibility'],
    ['min_price=x', 'min_price'],
    ['max_price=-5', 'max_price'],
    ['bedrooms=two', 'bedrooms'],
    ['min_size=', 'min_size'],
    ['assigned_agent=agent_1', 'assigned_agent'],
    ['colour=red', 'colour'],
  ])('refuses ?%s', async (query, field) => {
    await scenario({ get: `/v1/units?${query}`, status: 422, wrong: [field] })
  })

  it('carries the same records as GET of each', async () => {
    const { data } = await scenario({ get: '/v1/units', status: 200 })
    for (const unit of data) {
      expect((await scenario({ get: `/v1/units/${unit.id}`, status: 200 })).data).toEqual(unit)
    }
  })
})

describe('the units of a property', () => {
  it('are listed with the same filters, sorts and expansions', async () => {
    const path = `/v1/properties/${propertyId}/units`
    const { data, body } = await scenario({ get: path, status: 200 })
    expect(namesOf(data)).toBe('ABCD')
    expect(body.meta).toEqual({ page: 1, per_page: 20, total: 4, total_pages: 1 })
    const sorted = await scenario({
      get: `${path}?status=available,sold&sort=price&order=desc&expand=property`,
      status: 200,
    })
    expect(sorted.data.map(({ name }: { name: string }) => name)).toEqual(['D', 'B', 'A'])
    expect(sorted.data[0].property.id).toBe(propertyId)
    expect(sorted.body.links.first).toContain(`${path}?status=available%2Csold&sort=price`)
  })

  it('are none where it has none, and not found where there is no property', async () => {
    const { data } = await scenario({ get: `/v1/properties/${emptyId}/units`, status: 200 })
    expect(data).toEqual([])
    await scenario({ get: `/v1/properties/prop_none/units`, status: 404, error: { code: 'NOT_FOUND' } })
    await scenario({
      get: `/v1/properties/${propertyId}/units?property_id=x`,
      status: 422,
      wrong: ['property_id'],
    })
  })
})
