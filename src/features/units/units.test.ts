import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit, eventsOf } from '../../../test/fixtures.ts'
import { type Tenant, useHarness } from '../../../test/harness.ts'
import { unitVisibilities } from '../visibility/units.ts'
import { unitStatuses } from './schema.ts'

const harness = useHarness()
const { scenario } = harness

let propertyId: string
let other: Tenant
beforeAll(async () => {
  propertyId = (await createProperty(harness, { location: { area: 'Marina', city: 'Dubai', country: 'AE' } }))
    .id
  other = await harness.createTenant({ name: 'Other Realty', plan: 'enterprise', currency: 'GBP' })
})

const minimal = () => ({ property_id: propertyId, name: 'A-1', price: { amount: 420_000 } })

const whole = () => ({
  property_id: propertyId,
  name: 'Tower A, corner',
  unit_number: 'A-1204',
  type: '2BR Apartment',
  status: 'reserved',
  bedrooms: 2,
  bathrooms: 2.5,
  size: { interior: 96.5, land: 120.25, unit: 'sqft' },
  price: { amount: 1_234_567_890_123.45, currency: 'AED' },
  features: ['balcony', 'sea_view'],
  floor_plan: 'https://cdn.example.com/a-1204.pdf',
  gallery: ['https://cdn.example.com/1.jpg', 'https://cdn.example.com/2.jpg'],
  visibility: 'public',
  assigned_agent: harness.tenant.ownerId,
})

describe('creating a unit', () => {
  it('fills in the defaults', async () => {
    const { data, headers } = await scenario({
      post: '/v1/units',
      body: minimal(),
      status: 201,
      events: ['unit.created'],
    })
    expect(data).toEqual({
      id: expect.stringMatching(/^unit_/),
      property_id: propertyId,
      name: 'A-1',
      unit_number: null,
      type: null,
      status: 'available',
      bedrooms: null,
      bathrooms: null,
      size: null,
      price: { amount: 420_000, currency: 'USD' },
      features: [],
      floor_plan: null,
      gallery: [],
      visibility: 'agents',
      assigned_agent: null,
      external_id: null,
      created_at: '2026-03-01T09:00:00.000Z',
      updated_at: '2026-03-01T09:00:00.000Z',
    })
    expect(headers.location).toBe(`/v1/units/${data.id}`)
    expect((await scenario({ get: headers.location!, status: 200 })).data).toEqual(data)
  })

  it('keeps every field exactly as it was sent', async () => {
    const { data } = await scenario({ post: '/v1/units', body: whole(), status: 201, match: whole() })
    const shown = await scenario({ get: `/v1/units/${data.id}`, status: 200, match: whole() })
    expect(shown.text).toContain('"amount":1234567890123.45')
    expect(await eventsOf(harness, data.id)).toEqual([
      { event: 'unit.created', data, workspace_id: harness.tenant.production.id },
    ])
  })

  it.each([0, 0.01, 0.1, 19.99, 420_000.5, 1_234_567_890_123.45, 9_999_999_999_999.99])(
    'keeps the price %d to the cent',
    async (amount) => {
      const { id } = await createUnit(harness, propertyId, { price: { amount } })
      expect((await scenario({ get: `/v1/units/${id}`, status: 200 })).data.price.amount).toBe(amount)
      const [row] = await harness.sql`select price_amount::text as stored from units where id = ${id}`
      expect(row!.stored).toBe(amount.toFixed(2))
    },
  )

  it("takes the workspace's currency where none is given", async () => {
    const { id } = await createProperty(harness, {}, other.adminKey)
    expect((await createUnit(harness, id, {}, other.adminKey)).price.currency).toBe('GBP')
  })

  it('measures in square metres unless told otherwise', async () => {
    const unit = await createUnit(harness, propertyId, { size: { interior: 80 } })
    expect(unit.size).toEqual({ interior: 80, land: null, unit: 'sqm' })
  })

  it('ignores fields that only the service sets, and expansions that were sent back', async () => {
    const sent = { id: 'unit_mine', created_at: 'x', updated_at: 1, property: { id: 'x' }, agent: null }
    const unit = await createUnit(harness, propertyId, sent)
    expect(unit.id).not.toBe('unit_mine')
    expect(unit).toMatchObject({ property_id: propertyId, created_at: '2026-03-01T09:00:00.000Z' })
  })

  it.each([
    ...unitStatuses.map((status) => ({ status })),
    ...unitVisibilities.map((visibility) => ({ visibility })),
  ])('accepts %o', async (body) => {
    expect(await createUnit(harness, propertyId, body)).toMatchObject(body)
  })

  it.each([
    {
      sent: { property_id: undefined, name: undefined, price: undefined },
      wrong: ['name', 'price', 'property_id'],
    },
    { sent: { property_id: null, name: null, price: null }, wrong: ['name', 'price', 'property_id'] },
    { sent: { property_id: 'unit_01' }, wrong: ['property_id'] },
    { sent: { property_id: `prop_${'0'.repeat(26)}` }, wrong: ['property_id'] },
    { sent: { assigned_agent: `agent_${'0'.repeat(26)}` }, wrong: ['assigned_agent'] },
    { sent: { assigned_agent: '' }, wrong: ['assigned_agent'] },
    { sent: { name: '', unit_number: 'x'.repeat(201), type: 3 }, wrong: ['name', 'type', 'unit_number'] },
    { sent: { status: 'planning', visibility: 'all' }, wrong: ['status', 'visibility'] },
    { sent: { status: null, visibility: null }, wrong: ['status', 'visibility'] },
    { sent: { bedrooms: -1, bathrooms: '2' }, wrong: ['bathrooms', 'bedrooms'] },
    {
      sent: { size: { interior: -1, land: 1.234, unit: '' } },
      wrong: ['size.interior', 'size.land', 'size.unit'],
    },
    { sent: { size: 96 }, wrong: ['size'] },
    { sent: { price: {} }, wrong: ['price.amount'] },
    { sent: { price: 420_000 }, wrong: ['price'] },
    { sent: { price: { amount: '1' } }, wrong: ['price.amount'] },
    { sent: { price: { amount: -0.01, currency: 'Euro' } }, wrong: ['price.amount', 'price.currency'] },
    { sent: { price: { amount: 0.001 } }, wrong: ['price.amount'] },
    { sent: { price: { amount: 1e13 } }, wrong: ['price.amount'] },
    { sent: { price: { amount: 1, vat: 1 }, colour: 'red' }, wrong: ['colour', 'price.vat'] },
    { sent: { features: Array(101).fill('x'), gallery: ['/1.jpg'] }, wrong: ['features', 'gallery[0]'] },
    { sent: { floor_plan: 'javascript:alert(1)' }, wrong: ['floor_plan'] },
  ])('names $wrong as wrong, all at once', async ({ sent, wrong }) => {
    const body = { ...minimal(), ...sent }
    await scenario({
      post: '/v1/units',
      body,
      status: 422,
      error: { code: 'VALIDATION_ERROR' },
      wrong,
      events: [],
    })
  })
})

describe('a record of another workspace', () => {
  it('cannot be named in a body, on create or change', async () => {
    const theirs = await createProperty(harness, {}, other.adminKey)
    const bodies = [
      { patch: { property_id: theirs.id }, field: 'property_id' },
      { patch: { assigned_agent: other.ownerId }, field: 'assigned_agent' },
      { patch: { assigned_agent: harness.tenant.sandboxOwnerId }, field: 'assigned_agent' },
    ]
    const unit = await createUnit(harness, propertyId)
    for (const { patch, field } of bodies) {
      const unknown = field === 'property_id' ? { property_id: 'prop_0' } : { assigned_agent: 'agent_0' }
      const answers = []
      for (const sent of [patch, unknown]) {
        const refused = { status: 422, wrong: [field], events: [] }
        answers.push(await scenario({ post: '/v1/units', body: { ...minimal(), ...sent }, ...refused }))
        answers.push(await scenario({ put: `/v1/units/${unit.id}`, body: sent, ...refused }))
      }
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    }
  })

  it.each(['get', 'put', 'delete'] as const)(
    'answers %s exactly like one that never existed',
    async (method) => {
      const theirs = await createProperty(harness, {}, other.adminKey)
      const { id } = await createUnit(harness, theirs.id, {}, other.adminKey)
      const answers = []
      for (const target of [id, `unit_${'0'.repeat(26)}`, 'prop_1', 'unit_%00']) {
        const body = method === 'put' ? { body: { name: 'Mine now' } } : {}
        answers.push(await scenario({ [method]: `/v1/units/${target}`, ...body, status: 404, events: [] }))
      }
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      await scenario({ as: other.adminKey, get: `/v1/units/${id}`, status: 200, match: { name: 'A-1204' } })
    },
  )
})

describe('deleting a unit', () => {
  it('answers with nothing, once', async () => {
    const { id } = await createUnit(harness, propertyId)
    const { text } = await scenario({ delete: `/v1/units/${id}`, status: 204, events: [] })
    expect(text).toBe('')
    await scenario({ get: `/v1/units/${id}`, status: 404, error: { code: 'NOT_FOUND' } })
    await scenario({ delete: `/v1/units/${id}`, status: 404 })
  })
})

describe('expanding a unit', () => {
  const property = () => ({
    id: propertyId,
    name: 'Marina Heights',
    location: { area: 'Marina', city: 'Dubai' },
  })

  it('adds its property and agent, whatever fields are asked for', async () => {
    const { id } = await createUnit(harness, propertyId, { assigned_agent: harness.tenant.ownerId })
    const [owner] = await harness.sql`select id, name, email from agents where id = ${harness.tenant.ownerId}`
    const both = { property: property(), agent: { ...owner } }
    const one = await scenario({ get: `/v1/units/${id}?expand=property,agent&fields=name`, status: 200 })
    expect(one.data).toEqual({ id, name: 'A-1204', ...both })
    const list = await scenario({ get: `/v1/units?expand=agent,property&agent_id=${owner!.id}`, status: 200 })
    expect(list.data.find((unit: { id: string }) => unit.id === id)).toMatchObject(both)
  })

  it('shows null where no agent is assigned', async () => {
    const { id } = await createUnit(harness, propertyId)
    const { data } = await scenario({ get: `/v1/units/${id}?expand=agent`, status: 200 })
    expect(data.agent).toBeNull()
    expect(data).not.toHaveProperty('property')
  })

  it('needs the right to read agents', async () => {
    const as = await harness.createKey(harness.tenant.production, ['read:properties'])
    const { id } = await createUnit(harness, propertyId)
    await scenario({
      as,
      get: `/v1/units/${id}?expand=property`,
      status: 200,
      match: { property: property() },
    })
    for (const get of [`/v1/units/${id}?expand=agent`, '/v1/units?expand=property,agent']) {
      await scenario({ as, get, status: 403, error: { message: expect.stringContaining('read:agents') } })
    }
  })
})
