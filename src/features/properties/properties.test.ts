import { beforeAll, describe, expect, it } from 'vitest'
import { aProperty, createProperty, createUnit, eventsOf } from '../../../test/fixtures.ts'
import { type Tenant, useHarness } from '../../../test/harness.ts'
import { propertyStatuses, propertyTypes } from './schema.ts'

const harness = useHarness()
const { scenario } = harness

const whole = {
  name: 'Palm Gardens',
  type: 'villa',
  status: 'completed',
  location: {
    address: '12 Harbour Road',
    area: 'Marina',
    city: 'Dubai',
    country: 'AE',
    coordinates: { lat: 25.0805, lng: 55.1403 },
  },
  description: 'Two towers on the waterfront.',
  media: {
    cover: 'https://cdn.example.com/cover.jpg',
    gallery: ['https://cdn.example.com/1.jpg', 'https://cdn.example.com/2.jpg'],
    floor_plans: ['https://cdn.example.com/plan.pdf'],
    virtual_tour: 'https://tours.example.com/palm',
  },
  pricing: { currency: 'AED', min_price: 1_000_000.5, max_price: 1_234_567_890_123.45 },
  features: ['pool', 'gym'],
  completion_date: '2027-06-30',
}

describe('creating a property', () => {
  it('fills in the defaults', async () => {
    const { data, headers } = await scenario({
      post: '/v1/properties',
      body: aProperty,
      status: 201,
      events: ['property.created'],
    })
    expect(data).toEqual({
      id: expect.stringMatching(/^prop_/),
      external_id: null,
      name: 'Marina Heights',
      type: 'apartment',
      status: 'planning',
      location: { address: null, area: null, city: 'Dubai', country: 'AE', coordinates: null },
      description: null,
      media: null,
      pricing: null,
      features: [],
      units_count: 0,
      units_available: 0,
      completion_date: null,
      created_at: '2026-03-01T09:00:00.000Z',
      updated_at: '2026-03-01T09:00:00.000Z',
    })
    expect(headers.location).toBe(`/v1/properties/${data.id}`)
    expect((await scenario({ get: headers.location!, status: 200 })).data).toEqual(data)
  })

  it('keeps every field exactly as it was sent', async () => {
    const { data } = await scenario({ post: '/v1/properties', body: whole, status: 201, match: whole })
    const shown = await scenario({ get: `/v1/properties/${data.id}`, status: 200, match: whole })
    expect(shown.text).toContain('"max_price":1234567890123.45')
    expect(await eventsOf(harness, data.id)).toEqual([
      { event: 'property.created', data, workspace_id: harness.tenant.production.id },
    ])
  })

  it('shows coordinates as they were stored, however many decimals were sent', async () => {
    const location = {
      ...aProperty.location,
      coordinates: { lat: 25.08051234567891, lng: -179.99999999 },
    }
    const data = await createProperty(harness, { location })
    expect(data.location.coordinates.lat).toBeCloseTo(25.080512, 6)
    await scenario({ get: `/v1/properties/${data.id}`, status: 200, match: data })
  })

  it("takes the workspace's currency where none is given", async () => {
    const euros = await harness.createTenant({ name: 'Euro Realty', plan: 'professional', currency: 'EUR' })
    const property = await createProperty(harness, { pricing: { min_price: 10.25 } }, euros.adminKey)
    expect(property.pricing).toEqual({ currency: 'EUR', min_price: 10.25, max_price: null })
  })

  it('ignores fields that only the service sets', async () => {
    const sent = { id: 'prop_mine', units_count: 9, units_available: 9, created_at: 'x', updated_at: 1 }
    const property = await createProperty(harness, sent)
    expect(property).toMatchObject({
      units_count: 0,
      units_available: 0,
      created_at: '2026-03-01T09:00:00.000Z',
    })
    expect(property.id).not.toBe('prop_mine')
  })

  it.each([...propertyTypes.map((type) => ({ type })), ...propertyStatuses.map((status) => ({ status }))])(
    'accepts %o',
    async (body) => {
      expect(await createProperty(harness, body)).toMatchObject(body)
    },
  )

  const place = aProperty.location
  it.each([
    { sent: {}, wrong: ['location', 'name', 'type'] },
    { sent: { ...aProperty, name: null, type: null, location: null }, wrong: ['location', 'name', 'type'] },
    { sent: { ...aProperty, name: '' }, wrong: ['name'] },
    { sent: { ...aProperty, name: 'x'.repeat(201) }, wrong: ['name'] },
    { sent: { ...aProperty, name: 'nul \u0000' }, wrong: ['name'] },
    { sent: { ...aProperty, name: 7 }, wrong: ['name'] },
    { sent: { ...aProperty, type: 'castle' }, wrong: ['type'] },
    { sent: { ...aProperty, status: 'sold' }, wrong: ['status'] },
    { sent: { ...aProperty, status: null }, wrong: ['status'] },
    { sent: { ...aProperty, description: 'x'.repeat(10_001) }, wrong: ['description'] },
    { sent: { ...aProperty, location: { address: 'x' } }, wrong: ['location.city', 'location.country'] },
    { sent: { ...aProperty, location: { ...place, zip: '1' } }, wrong: ['location.zip'] },
    {
      sent: { ...aProperty, location: { ...place, coordinates: { lat: 1 } } },
      wrong: ['location.coordinates.lng'],
    },
    {
      sent: { ...aProperty, location: { ...place, coordinates: { lat: 90.1, lng: -180.1 } } },
      wrong: ['location.coordinates.lat', 'location.coordinates.lng'],
    },
    {
      sent: {
        ...aProperty,
        media: { cover: 'cover.jpg', gallery: ['ftp://x.example/1', 'https://x.example'] },
      },
      wrong: ['media.cover', 'media.gallery[0]'],
    },
    {
      sent: { ...aProperty, pricing: { currency: 'usd', min_price: -1, max_price: 1.001 } },
      wrong: ['pricing.currency', 'pricing.max_price', 'pricing.min_price'],
    },
    { sent: { ...aProperty, pricing: { min_price: '100' } }, wrong: ['pricing.min_price'] },
    { sent: { ...aProperty, pricing: { max_price: 10_000_000_000_000 } }, wrong: ['pricing.max_price'] },
    { sent: { ...aProperty, pricing: { min_price: 2, max_price: 1 } }, wrong: ['pricing.min_price'] },
    { sent: { ...aProperty, features: Array(101).fill('x') }, wrong: ['features'] },
    { sent: { ...aProperty, features: ['', 3] }, wrong: ['features[0]', 'features[1]'] },
    { sent: { ...aProperty, completion_date: '2027-02-29' }, wrong: ['completion_date'] },
    { sent: { ...aProperty, completion_date: '2027-06-30T00:00:00Z' }, wrong: ['completion_date'] },
    { sent: { ...aProperty, colour: 'red' }, wrong: ['colour'] },
    { sent: [aProperty], wrong: ['body'] },
    { sent: 'null', wrong: ['body'] },
  ])('names $wrong as wrong, all at once', async ({ sent, wrong }) => {
    const error = { code: 'VALIDATION_ERROR' }
    await scenario({ post: '/v1/properties', body: sent, status: 422, error, wrong, events: [] })
  })
})

describe('counting the units of a property', () => {
  it('follows units as they come, change and go', async () => {
    const { id } = await createProperty(harness)
    const expectCounts = (units_count: number, units_available: number) =>
      scenario({ get: `/v1/properties/${id}`, status: 200, match: { units_count, units_available } })
    const unit = await createUnit(harness, id)
    await createUnit(harness, id, { status: 'rented' })
    await expectCounts(2, 1)
    await scenario({ put: `/v1/units/${unit.id}`, body: { status: 'sold' }, status: 200 })
    await expectCounts(2, 0)
    await scenario({ delete: `/v1/units/${unit.id}`, status: 204 })
    await expectCounts(1, 0)
  })
})

describe('deleting a property', () => {
  it('takes its units along and tells what is gone', async () => {
    const { id } = await createProperty(harness)
    const unit = await createUnit(harness, id)
    const other = await createUnit(harness, (await createProperty(harness)).id)
    const { data } = await scenario({ delete: `/v1/properties/${id}`, status: 200, events: [] })
    expect(data).toEqual({ id, deleted: true })
    await scenario({ get: `/v1/properties/${id}`, status: 404 })
    await scenario({ get: `/v1/units/${unit.id}`, status: 404 })
    await scenario({ get: `/v1/units/${other.id}`, status: 200 })
    await scenario({ delete: `/v1/properties/${id}`, status: 404, error: { code: 'NOT_FOUND' } })
  })
})

describe('a property of another workspace', () => {
  let other: Tenant
  beforeAll(async () => {
    other = await harness.createTenant({ name: 'Other Realty', plan: 'enterprise', currency: 'GBP' })
  })

  it.each([
    ['get', ''],
    ['put', ''],
    ['delete', ''],
    ['get', '/units'],
  ] as const)('answers %s of its path%s exactly like one that never existed', async (method, rest) => {
    const { id } = await createProperty(harness, {}, other.adminKey)
    const unknown = `prop_${'0'.repeat(26)}`
    const answers = []
    for (const target of [id, unknown, 'prop_', 'nonsense', "prop_'--"]) {
      const path = `/v1/properties/${encodeURIComponent(target)}${rest}`
      const body = method === 'put' ? { body: { name: 'Mine now' } } : {}
      answers.push(await scenario({ [method]: path, ...body, status: 404, events: [] }))
    }
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    // What names or counts the single request is not part of the comparison.
    const passing = /^(date|x-request-id|x-ratelimit-remaining|ratelimit)$/
    const headers = answers.map(({ headers }) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !passing.test(name))),
    )
    expect(headers[0]).toEqual(headers[1])
    await scenario({ as: other.adminKey, get: `/v1/properties/${id}`, status: 200, match: aProperty })
  })

  it('is in no list', async () => {
    await createProperty(harness, { name: 'Theirs' }, other.adminKey)
    const { data } = await scenario({ get: '/v1/properties?per_page=100', status: 200 })
    expect(data.map(({ name }: { name: string }) => name)).not.toContain('Theirs')
  })
})
