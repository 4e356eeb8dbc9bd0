import { describe, expect, it } from 'vitest'
import { createLead, createProperty, createUnit, insertAgent, winLead } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { calendarPeriod, spanOf } from './period.ts'
import { durationText } from './stats.ts'

const harness = useHarness()
const { scenario, clock } = harness
const hour = 3_600_000
const day = 24 * hour

describe("an agent's figures", () => {
  it('come from the records, and only from those of the period', async () => {
    const agent = await insertAgent(harness, { rate: 0.03 })
    const property = await createProperty(harness)
    const unit = (name: string) => createUnit(harness, property.id, { name })
    const move = (id: string, stage: string) =>
      scenario({ post: `/v1/leads/${id}/stage`, body: { stage }, status: 200 })
    const [first, second, third] = [
      await createLead(harness, { assigned_agent: agent }),
      await createLead(harness, { assigned_agent: agent }),
      await createLead(harness),
    ]
    clock.advance(2 * hour)
    await move(first.id, 'contacted')
    clock.advance(2.5 * hour - 2 * hour)
    await scenario({
      post: `/v1/leads/${second.id}/notes`,
      body: { content: 'Hi', type: 'call' },
      status: 201,
    })
    await move(first.id, 'qualified')
    await move(first.id, 'contacted')
    await move(first.id, 'qualified')
    await scenario({ put: `/v1/leads/${third.id}`, body: { assigned_agent: agent }, status: 200 })
    const won = await winLead(harness, first.id, { property_id: (await unit('A')).id, deal_value: 400_000 })
    await winLead(harness, second.id, { property_id: (await unit('B')).id, deal_value: 300_000 })
    await scenario({ post: `/v1/deals/${won.id}/close`, status: 200 })
    const cancelled = await winLead(harness, third.id, { property_id: (await unit('C')).id })
    await scenario({ post: `/v1/deals/${cancelled.id}/cancel`, status: 200 })

    const { data } = await scenario({ get: `/v1/agents/${agent}/stats`, status: 200 })
    expect(data).toEqual({
      period: 'month',
      start_date: '2026-03-01',
      end_date: '2026-03-31',
      leads: { assigned: 3, contacted: 1, qualified: 1, closed: 1 },
      conversion_rate: 0.3333,
      average_response_time: '2h 15m',
      revenue: { closed: 400_000, pending: 300_000, currency: 'USD' },
      commission_earned: 12_000,
    })
    // Contacted by whoever had it next: that is no answer of this agent's.
    const { id: passedOn } = await createLead(harness, { assigned_agent: agent })
    await scenario({
      put: `/v1/leads/${passedOn}`,
      body: { assigned_agent: await insertAgent(harness) },
      status: 200,
    })
    clock.advance(hour)
    await move(passedOn, 'contacted')
    await scenario({
      get: `/v1/agents/${agent}/stats`,
      status: 200,
      match: { average_response_time: '2h 15m' },
    })
    const stats = { active_leads: 0, deals_closed: 1, total_revenue: 400_000 }
    await scenario({ get: `/v1/agents/${agent}?include_stats=true`, status: 200, match: { stats } })
    await scenario({ get: `/v1/agents/${agent}`, status: 200, match: { stats: null } })

    const at = (query: string, match: object) =>
      scenario({ get: `/v1/agents/${agent}/stats?${query}`, status: 200, match })
    const all = { ...data.leads, assigned: 4 }
    for (const period of ['week', 'quarter', 'year']) await at(`period=${period}`, { period, leads: all })
    const nothing = { assigned: 0, contacted: 0, qualified: 0, closed: 0 }
    await at('end_date=9999-12-31', { end_date: '9999-12-31' })
    await at('start_date=2026-03-02&end_date=2026-03-03', {
      period: 'custom',
      leads: nothing,
      conversion_rate: 0,
      average_response_time: null,
      revenue: { closed: 0, pending: 300_000 },
      commission_earned: 0,
    })
    await at('start_date=2026-03-01&end_date=2026-03-01', { leads: all })
    await at('end_date=2026-02-28', { leads: nothing, revenue: { closed: 0, pending: 0 } })
    clock.advance(40 * day)
    await at('period=month', { leads: nothing, revenue: { closed: 0, pending: 300_000 } })
  })

  it('stay with the agent who did the work when a lead is handed over', async () => {
    const [before, after] = [await insertAgent(harness), await insertAgent(harness)]
    const { id } = await createLead(harness, { assigned_agent: before })
    await scenario({ post: `/v1/leads/${id}/stage`, body: { stage: 'contacted' }, status: 200 })
    await scenario({ put: `/v1/leads/${id}`, body: { assigned_agent: after }, status: 200 })
    await scenario({
      get: `/v1/agents/${before}/stats`,
      status: 200,
      match: { leads: { assigned: 1, contacted: 1 } },
    })
    await scenario({
      get: `/v1/agents/${after}/stats`,
      status: 200,
      match: { leads: { assigned: 1, contacted: 0 } },
    })
  })

  it('never mix currencies', async () => {
    const agent = await insertAgent(harness)
    const property = await createProperty(harness)
    const sell = async (currency: string, deal_value: number) => {
      const unit = await createUnit(harness, property.id, { price: { amount: 1, currency } })
      const lead = await createLead(harness, { assigned_agent: agent })
      const deal = await winLead(harness, lead.id, { property_id: unit.id, deal_value })
      await scenario({ post: `/v1/deals/${deal.id}/close`, status: 200 })
    }
    const revenueIs = async (closed: number, currency: string) => {
      const revenue = { closed, currency }
      await scenario({ get: `/v1/agents/${agent}/stats`, status: 200, match: { revenue } })
      const match = { stats: { total_revenue: closed } }
      await scenario({ get: `/v1/agents/${agent}?include_stats=true`, status: 200, match })
    }
    await sell('EUR', 10)
    await sell('GBP', 30)
    await revenueIs(30, 'GBP')
    await sell('USD', 5)
    await revenueIs(5, 'USD')
  })

  it('name what is wrong with the question', async () => {
    const url = `/v1/agents/${harness.tenant.ownerId}/stats`
    await scenario({ get: `${url}?period=day`, status: 422, wrong: ['period'] })
    await scenario({ get: `${url}?start_date=2026-02-30`, status: 422, wrong: ['start_date'] })
    const reversed = 'start_date=2026-03-02&end_date=2026-03-01'
    await scenario({ get: `${url}?${reversed}`, status: 422, wrong: ['start_date'] })
    const as = await harness.createKey(harness.tenant.production, ['read:agents', 'read:leads'])
    await scenario({ as, get: url, status: 403 })
  })
})

describe('periods', () => {
  it.each([
    { period: 'week', start: '2026-02-23', end: '2026-03-02' },
    { period: 'month', start: '2026-03-01', end: '2026-04-01' },
    { period: 'quarter', start: '2026-01-01', end: '2026-04-01' },
    { period: 'year', start: '2026-01-01', end: '2027-01-01' },
  ] as const)('of a $period are those of the calendar', ({ period, start, end }) => {
    const span = calendarPeriod(period, new Date('2026-03-01T00:00:00Z'))
    expect(span).toEqual({ start: new Date(`${start}T00:00:00Z`), end: new Date(`${end}T00:00:00Z`) })
  })

  it('reach from a start to today, and to an end from the period around it', () => {
    const now = new Date('2026-03-20T10:00:00Z')
    expect(spanOf({ start_date: '2026-03-05' }, now)).toMatchObject({ end: new Date('2026-03-21T00:00:00Z') })
    expect(spanOf({ end_date: '2026-02-10' }, now)).toMatchObject({ start: new Date('2026-02-01T00:00:00Z') })
  })

  it.each([
    [20, '0m'],
    [59 * 60, '59m'],
    [8_100, '2h 15m'],
    [3 * 86_400 + 3_600, '3d 1h'],
  ])('%d seconds read as %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text)
  })
})

describe('the leads of an agent', () => {
  it('are those with the status asked for', async () => {
    const agent = await insertAgent(harness)
    const stages = ['new', 'negotiation', 'won', 'lost']
    const leads = new Map<string, string>()
    for (const stage of stages) {
      const { id } = await createLead(harness, { assigned_agent: agent })
      await scenario({ post: `/v1/leads/${id}/stage`, body: { stage }, status: 200 })
      leads.set(stage, id)
    }
    const idsFor = async (query: string) =>
      (await scenario({ get: `/v1/agents/${agent}/leads?${query}`, status: 200 })).data.map(
        (one: { id: string }) => one.id,
      )
    expect(await idsFor('status=active&sort=stage')).toEqual([leads.get('new'), leads.get('negotiation')])
    for (const stage of stages) expect(await idsFor(`status=${stage}`)).toEqual([leads.get(stage)])
    expect(await idsFor('status=new,won&sort=stage')).toEqual([leads.get('new'), leads.get('won')])
    expect(await idsFor('')).toHaveLength(4)
    await scenario({ get: `/v1/agents/${agent}/leads?status=dead`, status: 422, wrong: ['status'] })
  })
})
