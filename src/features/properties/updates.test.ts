import { describe, expect, it } from 'vitest'
import { aProperty, createProperty, createUnit, eventsOf } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

const place = {
  address: '12 Harbour Road',
  area: 'Marina',
  city: 'Dubai',
  country: 'AE',
  coordinates: { lat: 25.5, lng: 55.5 },
}
const media = {
  cover: 'https://cdn.example.com/cover.jpg',
  gallery: ['https://cdn.example.com/1.jpg', 'https://cdn.example.com/2.jpg'],
  floor_plans: null,
  virtual_tour: null,
}
const pricing = { currency: 'AED', min_price: 100, max_price: 200.5 }
const before = {
  ...aProperty,
  location: place,
  media,
  pricing,
  description: 'Old',
  features: ['pool', 'gym'],
  completion_date: '2027-06-30',
}

interface Case {
  what: string
  patch: object
  /** The fields that differ afterwards. */
  after: Record<string, unknown>
  events?: string[]
}

const cases: Case[] = [
  { what: 'one field leaves the rest', patch: { name: 'New' }, after: { name: 'New' } },
  { what: 'the type can change', patch: { type: 'land' }, after: { type: 'land' } },
  {
    what: 'a new status is told twice',
    patch: { status: 'sold_out' },
    after: { status: 'sold_out' },
    events: ['property.status_changed', 'property.updated'],
  },
  {
    what: 'pricing is merged',
    patch: { pricing: { max_price: 300.25 } },
    after: { pricing: { ...pricing, max_price: 300.25 } },
  },
  {
    what: 'a part of pricing is cleared by null',
    patch: { pricing: { min_price: null } },
    after: { pricing: { ...pricing, min_price: null } },
  },
  {
    what: "a cleared currency falls back to the workspace's",
    patch: { pricing: { currency: null } },
    after: { pricing: { ...pricing, currency: 'USD' } },
  },
  {
    what: 'location is merged',
    patch: { location: { area: null, city: 'Abu Dhabi' } },
    after: { location: { ...place, area: null, city: 'Abu Dhabi' } },
  },
  {
    what: 'coordinates come whole',
    patch: { location: { coordinates: { lat: -1, lng: 0 } } },
    after: { location: { ...place, coordinates: { lat: -1, lng: 0 } } },
  },
  {
    what: 'coordinates are cleared by null',
    patch: { location: { coordinates: null } },
    after: { location: { ...place, coordinates: null } },
  },
  {
    what: 'media is merged and its arrays replaced',
    patch: { media: { gallery: ['https://cdn.example.com/3.jpg'] } },
    after: { media: { ...media, gallery: ['https://cdn.example.com/3.jpg'] } },
  },
  { what: 'arrays are replaced', patch: { features: ['gym'] }, after: { features: ['gym'] } },
  { what: 'an array is emptied by null', patch: { features: null }, after: { features: [] } },
  {
    what: 'optional fields are cleared by null',
    patch: { description: null, media: null, pricing: null, completion_date: null },
    after: { description: null, media: null, pricing: null, completion_date: null },
  },
]

describe('changing a property', () => {
  it.each(cases)('$what', async ({ patch, after, events = ['property.updated'] }) => {
    const created = await createProperty(harness, before)
    harness.clock.advance(1000)
    const { data } = await scenario({ put: `/v1/properties/${created.id}`, body: patch, status: 200, events })
    const expected = { ...created, ...after, updated_at: harness.clock.now().toISOString() }
    expect(data).toEqual(expected)
    expect((await scenario({ get: `/v1/properties/${created.id}`, status: 200 })).data).toEqual(expected)

    const changed = Object.keys(after).map((name) => [name, created[name]])
    const recorded = (await eventsOf(harness, created.id)).filter(({ event }) => event !== 'property.created')
    for (const { event, data } of recorded) {
      expect(data).toEqual({
        ...expected,
        previous: event === 'property.updated' ? Object.fromEntries(changed) : { status: 'planning' },
      })
    }
  })

  it('reads as null where everything in media is cleared', async () => {
    const { id } = await createProperty(harness, before)
    const body = { media: { cover: null, gallery: null } }
    await scenario({ put: `/v1/properties/${id}`, body, status: 200, match: { media: null } })
  })

  it.each([
    ['nothing', () => ({})],
    ['exactly what GET gave', (property: object) => property],
    [
      'the same values',
      () => ({ name: aProperty.name, pricing: { max_price: 200.5 }, features: ['pool', 'gym'] }),
    ],
    [
      'read-only fields alone',
      () => ({ id: 'prop_x', units_count: 4, units_available: 'x', created_at: null, updated_at: 0 }),
    ],
  ])('writes and tells nothing when it sends %s', async (_what, bodyFor) => {
    const { id } = await createProperty(harness, before)
    await createUnit(harness, id)
    const shown = (await scenario({ get: `/v1/properties/${id}`, status: 200 })).data
    harness.clock.advance(1000)
    const { data } = await scenario({
      put: `/v1/properties/${id}`,
      body: bodyFor(shown),
      status: 200,
      events: [],
    })
    expect(data).toEqual(shown)
    expect((await scenario({ get: `/v1/properties/${id}`, status: 200 })).data).toEqual(shown)
  })

  it.each([
    { patch: { name: null, type: null, status: null }, wrong: ['name', 'status', 'type'] },
    { patch: { location: null }, wrong: ['location'] },
    { patch: { location: { city: null } }, wrong: ['location.city'] },
    { patch: { location: { coordinates: { lat: 4 } } }, wrong: ['location.coordinates.lng'] },
    { patch: { pricing: { min_price: 200.51 } }, wrong: ['pricing.min_price'] },
    { patch: { pricing: { max_price: 99.99 } }, wrong: ['pricing.min_price'] },
    { patch: { pricing: { price: 1 }, colour: 'red' }, wrong: ['colour', 'pricing.price'] },
    { patch: { features: 'pool' }, wrong: ['features'] },
    { patch: [], wrong: ['body'] },
  ])('is refused as a whole when $wrong is wrong', async ({ patch, wrong }) => {
    const { id } = await createProperty(harness, before)
    const body = Array.isArray(patch) ? patch : { description: 'New', ...patch }
    await scenario({ put: `/v1/properties/${id}`, body, status: 422, wrong, events: [] })
    await scenario({ get: `/v1/properties/${id}`, status: 200, match: before })
  })

  it('fills a group that was null, with its defaults', async () => {
    const { id } = await createProperty(harness)
    const body = { pricing: { min_price: 5 }, media: { cover: media.cover } }
    const { data } = await scenario({ put: `/v1/properties/${id}`, body, status: 200 })
    expect(data.pricing).toEqual({ currency: 'USD', min_price: 5, max_price: null })
    expect(data.media).toEqual({ cover: media.cover, gallery: null, floor_plans: null, virtual_tour: null })
  })

  it('tells subscribers of all units, and the caller of those they may see', async () => {
    const { id } = await createProperty(harness)
    await createUnit(harness, id, { visibility: 'private' })
    const as = await harness.createKey(harness.tenant.production, ['write:properties'])
    const { data } = await scenario({ as, put: `/v1/properties/${id}`, body: { name: 'Seen' }, status: 200 })
    expect(data.units_count).toBe(0)
    const told = (await eventsOf(harness, id)).find(({ event }) => event === 'property.updated')
    expect(told.data.units_count).toBe(1)
  })
})
