import { describe, expect, it } from 'vitest'
import { createLead, createStock, eventsOf, insertAgent, winLead } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

async function openDeal(win: object = {}) {
  const stock = await createStock(harness)
  const agent = await insertAgent(harness, { rate: 0.025 })
  const lead = await createLead(harness, { assigned_agent: agent })
  const deal = await winLead(harness, lead.id, { property_id: stock.unit.id, ...win })
  return { ...stock, agent, lead, deal }
}

const call = (url: string) =>
  harness.server().inject({
    method: 'POST',
    url,
    headers: { authorization: `Bearer ${harness.tenant.adminKey}` },
  })

describe('closing a deal', () => {
  it('sells the unit, earns the commission and makes an invoice', async () => {
    const { deal, unit } = await openDeal({ deal_value: 400_000 })
    harness.clock.advance(1_000)
    const closed_at = harness.clock.now().toISOString()
    const { data } = await scenario({
      post: `/v1/deals/${deal.id}/close`,
      status: 200,
      match: { ...deal, status: 'closed', closed_at },
      events: ['deal.closed', 'unit.updated', 'unit.sold', 'invoice.created'],
    })
    await scenario({ get: `/v1/units/${unit.id}`, status: 200, match: { status: 'sold' } })
    const earned = [{ status: 'earned', amount: 10_000, rate: 0.025 }]
    await scenario({ get: `/v1/commissions?deal_id=${deal.id}`, status: 200, match: earned })
    const { data: invoices } = await scenario({ get: `/v1/invoices?deal_id=${deal.id}`, status: 200 })
    expect(invoices).toEqual([
      {
        id: expect.stringMatching(/^inv_/),
        number: expect.stringMatching(/^INV-\d{6}$/),
        deal_id: deal.id,
        amount: 400_000,
        currency: 'USD',
        status: 'open',
        created_at: closed_at,
      },
    ])
    const closed = (await eventsOf(harness, deal.id)).find(({ event }) => event === 'deal.closed')
    expect(closed.data).toEqual({ ...data, previous: { status: 'open', closed_at: null } })
    const sold = (await eventsOf(harness, unit.id)).find(({ event }) => event === 'unit.sold')
    expect(sold.data).toMatchObject({ status: 'sold', previous: { status: 'reserved' } })
  })

  it('works once', async () => {
    const { deal } = await openDeal()
    const answers = await Promise.all([1, 2, 3].map(() => call(`/v1/deals/${deal.id}/close`)))
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409, 409])
    await scenario({
      post: `/v1/deals/${deal.id}/cancel`,
      status: 409,
      error: { code: 'CONFLICT' },
      events: [],
    })
    const { body } = await scenario({ get: `/v1/invoices?deal_id=${deal.id}`, status: 200 })
    expect(body.meta.total).toBe(1)
  })

  it('numbers the invoices of a workspace without gaps, also when many close at once', async () => {
    const deals = await Promise.all(Array.from({ length: 6 }, () => openDeal()))
    await Promise.all(deals.map(({ deal }) => call(`/v1/deals/${deal.id}/close`)))
    await call(`/v1/deals/${deals[0]!.deal.id}/close`)
    const { data } = await scenario({ get: '/v1/invoices?sort=number&order=asc&per_page=100', status: 200 })
    const expected = data.map((_: unknown, at: number) => `INV-${String(at + 1).padStart(6, '0')}`)
    expect(data.map(({ number }: { number: string }) => number)).toEqual(expected)
    expect(data.length).toBeGreaterThanOrEqual(6)
  })
})

describe('cancelling a deal', () => {
  it('frees the unit, voids the commission and leaves the lead', async () => {
    const { deal, unit, lead } = await openDeal()
    await scenario({
      post: `/v1/deals/${deal.id}/cancel`,
      status: 200,
      match: { status: 'cancelled', cancelled_at: harness.clock.now().toISOString(), closed_at: null },
      events: ['unit.updated'],
    })
    await scenario({ get: `/v1/units/${unit.id}`, status: 200, match: { status: 'available' } })
    await scenario({ get: `/v1/commissions?deal_id=${deal.id}`, status: 200, match: [{ status: 'void' }] })
    await scenario({ get: `/v1/leads/${lead.id}`, status: 200, match: { stage: 'won' } })
    await scenario({ post: `/v1/deals/${deal.id}/cancel`, status: 409, events: [] })
    await scenario({ post: `/v1/deals/${deal.id}/close`, status: 409, events: [] })
    await winLead(harness, lead.id, { property_id: unit.id })
  })
})

describe('reading deals', () => {
  it('adds the relations asked for, also on lists', async () => {
    const { deal, lead, agent, unit, property } = await openDeal()
    const expanded = {
      id: deal.id,
      lead: { id: lead.id, name: lead.name, email: lead.email, stage: 'won' },
      agent: { id: agent, name: 'Sara Almeida', email: `${agent}@example.com` },
      unit: { id: unit.id, name: unit.name, property_id: property.id, unit_number: null, status: 'reserved' },
      property: { id: property.id, name: property.name, location: { area: null, city: 'Dubai' } },
    }
    const query = 'expand=lead,agent,unit,property&fields=id'
    const { data } = await scenario({ get: `/v1/deals/${deal.id}?${query}`, status: 200 })
    expect(data).toEqual(expanded)
    await scenario({ get: `/v1/deals?lead_id=${lead.id}&${query}`, status: 200, match: [expanded] })
    const as = await harness.createKey(harness.tenant.production, ['read:leads'])
    await scenario({ as, get: `/v1/deals/${deal.id}?expand=lead`, status: 200 })
    await scenario({ as, get: `/v1/deals/${deal.id}?expand=unit`, status: 403 })
  })

  it('filters by status, agent, property, unit and day', async () => {
    const { deal, agent, property, unit } = await openDeal()
    const other = await openDeal()
    await scenario({ post: `/v1/deals/${other.deal.id}/cancel`, status: 200 })
    const idsFor = async (query: string) =>
      (await scenario({ get: `/v1/deals?per_page=100&${query}`, status: 200 })).data.map(
        (one: { id: string }) => one.id,
      )
    expect(await idsFor(`agent_id=${agent}`)).toEqual([deal.id])
    expect(await idsFor(`property_id=${property.id}`)).toEqual([deal.id])
    expect(await idsFor(`unit_id=${unit.id}`)).toEqual([deal.id])
    expect(await idsFor('status=open')).toContain(deal.id)
    expect(await idsFor('status=open')).not.toContain(other.deal.id)
    expect(await idsFor('status=cancelled,closed')).toContain(other.deal.id)
    expect(await idsFor('created_after=2026-03-01&created_before=2026-03-01')).toContain(deal.id)
    expect(await idsFor('created_before=2026-02-28')).toEqual([])
    await scenario({ get: '/v1/deals?status=lost', status: 422, wrong: ['status'] })
  })

  it('answers 404 for what is not there', async () => {
    const other = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'GBP' })
    const { deal } = await openDeal()
    for (const [as, id] of [
      [other.adminKey, deal.id],
      [harness.tenant.adminKey, 'deal_none'],
    ]) {
      await scenario({ as: as!, get: `/v1/deals/${id}`, status: 404 })
      await scenario({ as: as!, post: `/v1/deals/${id}/close`, status: 404, events: [] })
      await scenario({ as: as!, post: `/v1/deals/${id}/cancel`, status: 404, events: [] })
    }
    await scenario({ as: other.adminKey, get: '/v1/deals', status: 200, match: [] })
    await scenario({ as: other.adminKey, get: '/v1/commissions', status: 200, match: [] })
    await scenario({ as: other.adminKey, get: '/v1/invoices', status: 200, match: [] })
  })
})

describe('what a deal is about', () => {
  it('cannot be deleted while the deal is open or closed, only once it is cancelled', async () => {
    const { deal, unit, property } = await openDeal()
    const error = { code: 'CONFLICT' }
    await scenario({ delete: `/v1/units/${unit.id}`, status: 409, error })
    await scenario({ delete: `/v1/properties/${property.id}`, status: 409, error })
    await scenario({ post: `/v1/deals/${deal.id}/cancel`, status: 200 })
    await scenario({ delete: `/v1/units/${unit.id}`, status: 204 })
    await scenario({ delete: `/v1/properties/${property.id}`, status: 200 })
    await scenario({
      get: `/v1/deals/${deal.id}?expand=unit`,
      status: 200,
      match: { unit_id: unit.id, unit: null },
    })

    const sold = await openDeal()
    await scenario({ post: `/v1/deals/${sold.deal.id}/close`, status: 200 })
    await scenario({ delete: `/v1/units/${sold.unit.id}`, status: 409, error })
  })
})
