import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit, eventsOf } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

let propertyId: string
let otherPropertyId: string
beforeAll(async () => {
  propertyId = (await createProperty(harness)).id
  otherPropertyId = (await createProperty(harness)).id
})

const size = { interior: 96.5, land: 120.25, unit: 'sqft' }
const price = { amount: 420_000.5, currency: 'AED' }
const original = () => ({
  name: 'A-1',
  unit_number: 'A-1204',
  type: '2BR',
  bedrooms: 2,
  bathrooms: 2.5,
  size,
  price,
  features: ['balcony', 'sea_view'],
  floor_plan: 'https://cdn.example.com/a.pdf',
  gallery: ['https://cdn.example.com/1.jpg'],
  assigned_agent: harness.tenant.ownerId,
})

interface Case {
  what: string
  patch: object | (() => object)
  /** The fields that differ afterwards; those of the patch unless given. */
  after?: Record<string, unknown>
  events?: string[]
}

const sold = ['unit.sold', 'unit.updated']
const cases: Case[] = [
  { what: 'one field leaves the rest', patch: { name: 'New' } },
  { what: 'plain fields change', patch: { unit_number: 'B', type: 'Studio', bedrooms: 0, bathrooms: 1 } },
  { what: 'it can move to another property', patch: () => ({ property_id: otherPropertyId }) },
  ...['reserved', 'off_market', 'rented'].map((status) => ({ what: `status ${status}`, patch: { status } })),
  { what: 'a sale is told as well', patch: { status: 'sold' }, events: sold },
  { what: 'visibility changes', patch: { visibility: 'team' } },
  {
    what: 'the price is merged',
    patch: { price: { amount: 1.01 } },
    after: { price: { ...price, amount: 1.01 } },
  },
  {
    what: "a cleared currency falls back to the workspace's",
    patch: { price: { currency: null } },
    after: { price: { ...price, currency: 'USD' } },
  },
  { what: 'the size is merged', patch: { size: { land: null } }, after: { size: { ...size, land: null } } },
  { what: 'arrays are replaced', patch: { features: ['pool'], gallery: [] } },
  {
    what: 'arrays are emptied by null',
    patch: { features: null, gallery: null },
    after: { features: [], gallery: [] },
  },
  {
    what: 'optional fields are cleared by null',
    patch: {
      unit_number: null,
      type: null,
      bedrooms: null,
      bathrooms: null,
      size: null,
      floor_plan: null,
      assigned_agent: null,
    },
  },
]

describe('changing a unit', () => {
  it.each(cases)('$what', async ({ patch, after, events = ['unit.updated'] }) => {
    const created = await createUnit(harness, propertyId, original())
    const body = typeof patch === 'function' ? patch() : patch
    const changes = after ?? (body as Record<string, unknown>)
    harness.clock.advance(1000)
    const { data } = await scenario({ put: `/v1/units/${created.id}`, body, status: 200, events })
    const expected = { ...created, ...changes, updated_at: harness.clock.now().toISOString() }
    expect(data).toEqual(expected)
    expect((await scenario({ get: `/v1/units/${created.id}`, status: 200 })).data).toEqual(expected)

    const changed = Object.keys(changes).map((name) => [name, created[name]])
    const recorded = (await eventsOf(harness, created.id)).filter(({ event }) => event !== 'unit.created')
    for (const { event, data } of recorded) {
      expect(data).toEqual({
        ...expected,
        previous: event === 'unit.updated' ? Object.fromEntries(changed) : { status: 'available' },
      })
    }
  })

  it('tells of a sale once, and again after it came back', async () => {
    const { id } = await createUnit(harness, propertyId)
    const put = (body: object, events: string[]) =>
      scenario({ put: `/v1/units/${id}`, body, status: 200, events })
    await put({ status: 'sold' }, sold)
    await put({ status: 'sold', name: 'Same' }, ['unit.updated'])
    await put({ status: 'available' }, ['unit.updated'])
    await put({ status: 'sold' }, sold)
  })

  it('tells of no sale when it is created sold', async () => {
    const body = { property_id: propertyId, name: 'Sold', price: { amount: 1 }, status: 'sold' }
    await scenario({ post: '/v1/units', body, status: 201, events: ['unit.created'] })
  })

  it('moves the counts of both properties', async () => {
    const [from, to] = [await createProperty(harness), await createProperty(harness)]
    const { id } = await createUnit(harness, from.id)
    await scenario({ put: `/v1/units/${id}`, body: { property_id: to.id }, status: 200 })
    await scenario({
      get: `/v1/properties/${from.id}`,
      status: 200,
      match: { units_count: 0, units_available: 0 },
    })
    await scenario({
      get: `/v1/properties/${to.id}`,
      status: 200,
      match: { units_count: 1, units_available: 1 },
    })
  })

  it.each([
    ['nothing', () => ({})],
    ['exactly what GET gave', (unit: object) => unit],
    [
      'the same values',
      () => ({ price: { amount: 420_000.5 }, size: {}, features: ['balcony', 'sea_view'] }),
    ],
    [
      'read-only fields alone',
      () => ({ id: 'unit_x', created_at: null, updated_at: 0, property: 1, agent: {} }),
    ],
  ])('writes and tells nothing when it sends %s', async (_what, bodyFor) => {
    const { id } = await createUnit(harness, propertyId, original())
    const shown = (await scenario({ get: `/v1/units/${id}?expand=property,agent`, status: 200 })).data
    harness.clock.advance(1000)
    await scenario({ put: `/v1/units/${id}`, body: bodyFor(shown), status: 200, events: [] })
    const { data } = await scenario({ get: `/v1/units/${id}?expand=property,agent`, status: 200 })
    expect(data).toEqual(shown)
  })

  it.each([
    { patch: { name: null, price: null, property_id: null }, wrong: ['name', 'price', 'property_id'] },
    { patch: { price: { amount: null } }, wrong: ['price.amount'] },
    { patch: { price: { amount: 1.999 } }, wrong: ['price.amount'] },
    { patch: { size: { unit: null } }, wrong: ['size.unit'] },
    { patch: { status: null, visibility: 'hidden' }, wrong: ['status', 'visibility'] },
    { patch: { property_id: 'prop_none' }, wrong: ['property_id'] },
    { patch: { colour: 'red', size: { height: 3 } }, wrong: ['colour', 'size.height'] },
  ])('is refused as a whole when $wrong is wrong', async ({ patch, wrong }) => {
    const created = await createUnit(harness, propertyId, original())
    const body = { type: 'New', ...patch }
    await scenario({ put: `/v1/units/${created.id}`, body, status: 422, wrong, events: [] })
    await scenario({ get: `/v1/units/${created.id}`, status: 200, match: created })
  })
})
