import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness
const dayMs = 86_400_000

let first: { id: string }
let second: { id: string }
let agentId: string

const lead = async (body: object = {}) =>
  (
    await scenario({
      post: '/v1/leads',
      body: { name: 'A', email: 'a@example.com', source: 'website', ...body },
      status: 201,
    })
  ).data
const stage = (id: string, to: string) =>
  scenario({ post: `/v1/leads/${id}/stage`, body: { stage: to }, status: 200 })
const days = 'start_date=2026-03-01&end_date=2026-03-31'

// The clock stands at 2026-03-01T09:00Z.
beforeAll(async () => {
  first = await createProperty(harness, { name: 'Alpha' })
  second = await createProperty(harness, { name: 'Beta' })
  for (const status of ['available', 'available', 'sold', 'rented'])
    await createUnit(harness, first.id, { status, price: { amount: 100.1, currency: 'EUR' } })
  await createUnit(harness, second.id, { price: { amount: 50 }, assigned_agent: harness.tenant.ownerId })
  await createUnit(harness, second.id, { visibility: 'private', price: { amount: 70 } })
  agentId = harness.tenant.ownerId

  const won = await lead({
    assigned_agent: agentId,
    interested_properties: [first.id],
    budget: { max: 10, currency: 'EUR' },
  })
  const lost = await lead({ source: 'referral', budget: { min: 20, currency: 'EUR' } })
  await lead({ budget: { max: 30, currency: 'USD' } })
  harness.clock.advance(2 * dayMs)
  await stage(won.id, 'contacted')
  await stage(lost.id, 'contacted')
  harness.clock.advance(dayMs)
  await stage(lost.id, 'lost')
  const unit = await createUnit(harness, first.id, { price: { amount: 500, currency: 'EUR' } })
  await scenario({
    post: `/v1/leads/${won.id}/won`,
    body: { property_id: unit.id, deal_value: 499.99 },
    status: 200,
  })
  const other = await lead({ assigned_agent: agentId, source: 'portal' })
  await scenario({
    post: `/v1/leads/${other.id}/won`,
    body: { property_id: second.id, deal_value: 1000 },
    status: 200,
  })
  const { data } = await scenario({ get: '/v1/deals', status: 200 })
  for (const { id } of data) await scenario({ post: `/v1/deals/${id}/close`, status: 200 })
})

describe('analytics', () => {
  it('sum up what came, what was sold and what is left', async () => {
    const { data } = await scenario({ get: `/v1/analytics/overview?${days}`, status: 200 })
    const sold = [
      { currency: 'EUR', amount: 499.99 },
      { currency: 'USD', amount: 1000 },
    ]
    expect(data).toEqual({
      start_date: '2026-03-01',
      end_date: '2026-03-31',
      leads: { created: 4, active: 1, won: 2, lost: 1, conversion_rate: 0.5 },
      opened: { deals: 2, amounts: sold },
      closed: { deals: 2, amounts: sold },
      inventory: {
        units: 7,
        by_status: { available: 4, reserved: 0, sold: 2, off_market: 0, rented: 1 },
        sell_through: 0.2857,
      },
    })
  })

  it('show the pipeline: counts and values by stage, moves, and days in a stage', async () => {
    const { data } = await scenario({ get: `/v1/analytics/pipeline?${days}`, status: 200 })
    const of = (name: string) => data.stages.find(({ stage }: { stage: string }) => stage === name)
    expect(data.stages.map(({ stage }: { stage: string }) => stage)).toEqual([
      'new',
      'contacted',
      'qualified',
      'viewing',
      'negotiation',
      'won',
      'lost',
    ])
    expect(of('new')).toEqual({
      stage: 'new',
      leads: 1,
      value: [{ currency: 'USD', amount: 30 }],
      median_days: 2,
    })
    expect(of('contacted')).toEqual({ stage: 'contacted', leads: 0, value: [], median_days: 1 })
    expect(of('won')).toMatchObject({ leads: 2, value: [{ currency: 'EUR', amount: 10 }], median_days: null })
    expect(of('lost')).toMatchObject({ leads: 1, value: [{ currency: 'EUR', amount: 20 }] })
    expect(data.conversions).toEqual([
      { from: 'new', to: 'contacted', leads: 2, rate: 0.6667 },
      { from: 'new', to: 'won', leads: 1, rate: 0.3333 },
      { from: 'contacted', to: 'won', leads: 1, rate: 0.5 },
      { from: 'contacted', to: 'lost', leads: 1, rate: 0.5 },
    ])
  })

  it('compare sources and agents', async () => {
    const sources = await scenario({ get: `/v1/analytics/sources?${days}`, status: 200 })
    expect(sources.data.sources[0]).toEqual({
      source: 'website',
      leads: 2,
      won: 1,
      lost: 0,
      conversion_rate: 0.5,
      deals_closed: 1,
      revenue: [{ currency: 'EUR', amount: 499.99 }],
    })
    const agents = await scenario({ get: `/v1/analytics/agents?${days}`, status: 200 })
    expect(agents.data.agents).toMatchObject([
      {
        agent_id: agentId,
        leads: 2,
        won: 2,
        conversion_rate: 1,
        deals_closed: 2,
        revenue: [{ currency: 'EUR' }, { currency: 'USD' }],
      },
    ])
  })

  it('divide revenue into months or weeks, quiet ones included', async () => {
    const months = await scenario({
      get: '/v1/analytics/revenue?start_date=2026-02-10&end_date=2026-04-01',
      status: 200,
    })
    const none = { deals: 0, amounts: [] }
    expect(months.data.periods).toMatchObject([
      { start_date: '2026-02-01', closed: none, opened: none },
      { start_date: '2026-03-01', closed: { deals: 2 }, opened: { deals: 2 } },
      { start_date: '2026-04-01', closed: none, opened: none },
    ])
    const weeks = await scenario({ get: `/v1/analytics/revenue?${days}&interval=week`, status: 200 })
    expect(weeks.data.periods.map(({ start_date }: { start_date: string }) => start_date)).toEqual([
      '2026-02-23',
      '2026-03-02',
      '2026-03-09',
      '2026-03-16',
      '2026-03-23',
      '2026-03-30',
    ])
    expect(weeks.data.periods[1].closed.deals).toBe(2)
  })

  it('refuse to divide revenue into more periods than anybody looks at', async () => {
    const from = '/v1/analytics/revenue?start_date='
    const refused = {
      status: 422,
      wrong: ['start_date'],
      error: { message: expect.stringContaining('at most 1000 weeks') },
    }
    await scenario({ get: `${from}0001-01-01&end_date=9998-12-31&interval=week`, ...refused })
    const weeks = '&end_date=2026-03-01&interval=week'
    const { data } = await scenario({ get: `${from}2007-01-01${weeks}`, status: 200 })
    expect(data.periods).toHaveLength(1_000)
    await scenario({ get: `${from}2006-12-31${weeks}`, ...refused })
  })

  it('count units by property, without those the caller may not see', async () => {
    const { data } = await scenario({ get: '/v1/analytics/inventory', status: 200 })
    expect(data).toMatchObject({
      units: 7,
      properties: [
        { name: 'Alpha', units: 5, sell_through: 0.4, available_value: [{ currency: 'EUR', amount: 200.2 }] },
        {
          name: 'Beta',
          units: 2,
          by_status: { available: 2 },
          available_value: [{ currency: 'USD', amount: 120 }],
        },
      ],
    })
    const as = await harness.createKey(harness.tenant.production, ['read:analytics'])
    const seen = await scenario({ as, get: '/v1/analytics/inventory', status: 200 })
    expect(seen.data).toMatchObject({ units: 6, properties: [{}, { units: 1 }] })
    const overview = await scenario({ as, get: '/v1/analytics/overview', status: 200 })
    expect(overview.data.inventory.units).toBe(6)
  })

  it('belong to UTC days, the last included', async () => {
    const created = async (query: string) =>
      (await scenario({ get: `/v1/analytics/overview?${query}`, status: 200 })).data.leads.created
    expect(await created('start_date=2026-03-01&end_date=2026-03-01')).toBe(3)
    expect(await created('start_date=2026-03-02&end_date=2026-03-03')).toBe(0)
    expect(await created('end_date=2026-02-28')).toBe(0)
    expect(await created('')).toBe(4)
  })

  it('can be about one agent or one property', async () => {
    const by = async (query: string) =>
      (await scenario({ get: `/v1/analytics/overview?${days}&${query}`, status: 200 })).data
    expect(await by(`agent_id=${agentId}`)).toMatchObject({
      leads: { created: 2 },
      closed: { deals: 2 },
      inventory: { units: 1 },
    })
    expect(await by(`property_id=${second.id}`)).toMatchObject({
      leads: { created: 0 },
      closed: { deals: 1 },
      inventory: { units: 2 },
    })
    expect(await by('agent_id=agent_nobody')).toMatchObject({ leads: { created: 0 }, closed: { deals: 0 } })
    for (const name of ['pipeline', 'sources', 'agents', 'revenue', 'inventory'])
      await scenario({
        get: `/v1/analytics/${name}?property_id=${first.id}&agent_id=${agentId}`,
        status: 200,
      })
  })

  it('refuse days that make no sense, and carry an ETag', async () => {
    await scenario({
      get: '/v1/analytics/overview?start_date=2026-04-01&end_date=2026-03-01',
      status: 422,
      wrong: ['start_date'],
    })
    await scenario({ get: '/v1/analytics/revenue?interval=day', status: 422, wrong: ['interval'] })
    const { headers } = await scenario({ get: '/v1/analytics/sources', status: 200 })
    await scenario({ get: '/v1/analytics/sources', headers: { 'if-none-match': headers.etag! }, status: 304 })
    const as = await harness.createKey(harness.tenant.production, ['read:leads', 'read:properties'])
    await scenario({ as, get: '/v1/analytics/agents', status: 403 })
  })
})
