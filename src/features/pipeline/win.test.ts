import { describe, expect, it } from 'vitest'
import {
  createLead,
  createProperty,
  createStock,
  eventsOf,
  insertAgent,
  winLead,
} from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

const wonEvents = ['lead.stage_changed', 'lead.won', 'deal.created', 'commission.calculated', 'unit.updated']
const statusOf = async (unitId: string) =>
  (await scenario({ get: `/v1/units/${unitId}`, status: 200 })).data.status

describe('winning a lead', () => {
  it('opens a deal, reserves the unit and computes the commission', async () => {
    const agent = await insertAgent(harness, { rate: 0.03 })
    const { property, unit } = await createStock(harness, { price: { amount: 1, currency: 'EUR' } })
    const lead = await createLead(harness, { assigned_agent: agent })
    await scenario({
      post: `/v1/leads/${lead.id}/won`,
      body: { property_id: unit.id, deal_value: 420_000.5, notes: 'Ten percent down.' },
      status: 200,
      match: { id: lead.id, stage: 'won' },
      events: wonEvents,
    })
    expect(await statusOf(unit.id)).toBe('reserved')
    const { data: deals } = await scenario({ get: `/v1/deals?lead_id=${lead.id}`, status: 200 })
    const created_at = harness.clock.now().toISOString()
    expect(deals).toEqual([
      {
        id: expect.stringMatching(/^deal_/),
        lead_id: lead.id,
        property_id: property.id,
        unit_id: unit.id,
        agent_id: agent,
        value: 420_000.5,
        currency: 'EUR',
        status: 'open',
        notes: 'Ten percent down.',
        created_at,
        closed_at: null,
        cancelled_at: null,
      },
    ])
    const { data: commissions } = await scenario({ get: `/v1/commissions?agent_id=${agent}`, status: 200 })
    expect(commissions).toEqual([
      {
        id: expect.stringMatching(/^comm_/),
        deal_id: deals[0].id,
        agent_id: agent,
        rate: 0.03,
        amount: 12_600.02,
        currency: 'EUR',
        status: 'pending',
        created_at,
      },
    ])
    const [deal] = await eventsOf(harness, deals[0].id)
    expect(deal).toMatchObject({ event: 'deal.created', data: deals[0] })
    const { data: activity } = await scenario({ get: `/v1/leads/${lead.id}/activity`, status: 200 })
    expect(activity.map((entry: { type: string }) => entry.type)).toEqual([
      'won',
      'stage_change',
      'assignment',
      'created',
    ])
  })

  it('takes the commission that was agreed on, also without an agent', async () => {
    const { unit } = await createStock(harness)
    const lead = await createLead(harness)
    const body = { property_id: unit.id, deal_value: 1000, commission: 12.34 }
    await scenario({ post: `/v1/leads/${lead.id}/won`, body, status: 200, events: wonEvents })
    const { data: deals } = await scenario({ get: `/v1/deals?lead_id=${lead.id}`, status: 200 })
    const match = [{ rate: null, amount: 12.34, agent_id: null }]
    await scenario({ get: `/v1/commissions?deal_id=${deals[0].id}`, status: 200, match })
  })

  it('makes no commission where neither an amount nor a rate is known', async () => {
    const { property } = await createStock(harness)
    const { id } = await createLead(harness)
    await scenario({
      post: `/v1/leads/${id}/won`,
      body: { property_id: property.id, deal_value: 1000 },
      status: 200,
      events: ['lead.stage_changed', 'lead.won', 'deal.created'],
    })
  })

  it('takes the currency of the unit, the property, the budget or the workspace, in this order', async () => {
    const plain = await createProperty(harness)
    const priced = await createProperty(harness, { pricing: { currency: 'GBP', min_price: 1 } })
    const budget = { max: 5, currency: 'CHF' }
    const currencyFor = async (property_id: string, lead: object) =>
      (await winLead(harness, (await createLead(harness, lead)).id, { property_id })).currency
    expect(await currencyFor(priced.id, { budget })).toBe('GBP')
    expect(await currencyFor(plain.id, { budget })).toBe('CHF')
    expect(await currencyFor(plain.id, {})).toBe('USD')
  })

  it('makes the deal of a lead that stood at won without one', async () => {
    const { unit } = await createStock(harness)
    const { id } = await createLead(harness)
    await scenario({ post: `/v1/leads/${id}/stage`, body: { stage: 'won' }, status: 200 })
    await scenario({
      post: `/v1/leads/${id}/won`,
      body: { property_id: unit.id, deal_value: 5 },
      status: 200,
      events: ['lead.won', 'deal.created', 'unit.updated'],
    })
  })

  it('is 409 while the lead has a deal that is open or closed', async () => {
    const [first, second] = [await createStock(harness), await createStock(harness)]
    const { id } = await createLead(harness)
    const deal = await winLead(harness, id, { property_id: first.unit.id })
    const again = { post: `/v1/leads/${id}/won`, body: { property_id: second.unit.id, deal_value: 5 } }
    const error = { code: 'CONFLICT', message: expect.stringContaining(deal.id) }
    await scenario({ ...again, status: 409, error, events: [] })
    await scenario({ post: `/v1/deals/${deal.id}/close`, status: 200 })
    await scenario({ ...again, status: 409, error, events: [] })
  })

  it('is 409 for a unit that another deal reserves, or that is sold', async () => {
    const { unit } = await createStock(harness)
    const deal = await winLead(harness, (await createLead(harness)).id, { property_id: unit.id })
    const { id } = await createLead(harness)
    const win = { post: `/v1/leads/${id}/won`, body: { property_id: unit.id, deal_value: 5 }, status: 409 }
    await scenario({ ...win, error: { message: expect.stringContaining(deal.id) }, events: [] })
    await scenario({ post: `/v1/deals/${deal.id}/close`, status: 200 })
    await scenario({ ...win, error: { code: 'CONFLICT' }, events: [] })
    await scenario({ get: `/v1/leads/${id}`, status: 200, match: { stage: 'new' } })
  })

  it('lets one of many win a unit at the same moment, and names the deal to the others', async () => {
    const { unit } = await createStock(harness)
    const leads = await Promise.all(Array.from({ length: 5 }, () => createLead(harness)))
    const answers = await Promise.all(
      leads.map(({ id }) =>
        harness.server().inject({
          method: 'POST',
          url: `/v1/leads/${id}/won`,
          headers: { authorization: `Bearer ${harness.tenant.adminKey}` },
          payload: { property_id: unit.id, deal_value: 5 },
        }),
      ),
    )
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409, 409, 409, 409])
    const { data: deals } = await scenario({ get: `/v1/deals?unit_id=${unit.id}`, status: 200 })
    expect(deals).toHaveLength(1)
    for (const answer of answers.filter(({ statusCode }) => statusCode === 409))
      expect(answer.json().error.message).toContain(deals[0].id)
  })

  it('opens one deal for a lead that is won twice at the same moment', async () => {
    const stock = [await createStock(harness), await createStock(harness)]
    const { id } = await createLead(harness)
    const answers = await Promise.all(
      stock.map(({ unit }) =>
        harness.server().inject({
          method: 'POST',
          url: `/v1/leads/${id}/won`,
          headers: { authorization: `Bearer ${harness.tenant.adminKey}` },
          payload: { property_id: unit.id, deal_value: 5 },
        }),
      ),
    )
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409])
  })

  it.each([
    { sent: {}, wrong: ['deal_value', 'property_id'] },
    { sent: { property_id: 'prop_none' }, wrong: ['deal_value'] },
    { sent: { property_id: 'prop_none', deal_value: -1 }, wrong: ['deal_value'] },
    { sent: { property_id: 'prop_none', deal_value: '5' }, wrong: ['deal_value'] },
    { sent: { property_id: 'prop_none', deal_value: 5, commission: -1 }, wrong: ['commission'] },
    { sent: { property_id: 'prop_none', deal_value: 5 }, wrong: ['property_id'] },
    { sent: { property_id: 'unit_none', deal_value: 5 }, wrong: ['property_id'] },
    { sent: { property_id: 'lead_x', deal_value: 5 }, wrong: ['property_id'] },
  ])('names $wrong as wrong in $sent', async ({ sent, wrong }) => {
    const { id } = await createLead(harness)
    await scenario({ post: `/v1/leads/${id}/won`, body: sent, status: 422, wrong, events: [] })
    await scenario({ get: `/v1/leads/${id}`, status: 200, match: { stage: 'new' } })
  })
})

describe('a lead that leaves the stage won', () => {
  it.each([
    {
      name: 'by a stage change',
      request: (id: string) => ({ post: `/v1/leads/${id}/stage`, body: { stage: 'viewing' } }),
      events: ['lead.stage_changed'],
    },
    {
      name: 'by a PUT',
      request: (id: string) => ({ put: `/v1/leads/${id}`, body: { stage: 'viewing' } }),
      events: ['lead.stage_changed', 'lead.updated'],
    },
    {
      name: 'by being lost',
      request: (id: string) => ({ post: `/v1/leads/${id}/lost`, body: { reason: 'other' } }),
      events: ['lead.stage_changed', 'lead.lost'],
    },
  ])('cancels its open deal and frees the unit, $name', async ({ request, events }) => {
    const { unit } = await createStock(harness)
    const { id } = await createLead(harness)
    const deal = await winLead(harness, id, { property_id: unit.id, commission: 5 })
    await scenario({ ...request(id), status: 200, events: [...events, 'unit.updated'] })
    await scenario({ get: `/v1/deals/${deal.id}`, status: 200, match: { status: 'cancelled' } })
    await scenario({ get: `/v1/commissions?deal_id=${deal.id}`, status: 200, match: [{ status: 'void' }] })
    expect(await statusOf(unit.id)).toBe('available')
    await winLead(harness, id, { property_id: unit.id })
  })

  it('keeps a deal that is closed', async () => {
    const { unit } = await createStock(harness)
    const { id } = await createLead(harness)
    const deal = await winLead(harness, id, { property_id: unit.id })
    await scenario({ post: `/v1/deals/${deal.id}/close`, status: 200 })
    const move = { post: `/v1/leads/${id}/stage`, body: { stage: 'new' }, status: 200 }
    await scenario({ ...move, events: ['lead.stage_changed'] })
    await scenario({ get: `/v1/deals/${deal.id}`, status: 200, match: { status: 'closed' } })
    expect(await statusOf(unit.id)).toBe('sold')
  })

  it('is told and kept each time, also when the lead stands at won', async () => {
    const { unit } = await createStock(harness)
    const { id } = await createLead(harness)
    const body = { property_id: unit.id, deal_value: 10, notes: 'Second try.' }
    await winLead(harness, id, body)
    const { data: deals } = await scenario({ get: `/v1/deals?lead_id=${id}`, status: 200 })
    await scenario({ post: `/v1/deals/${deals[0].id}/cancel`, status: 200 })
    harness.clock.advance(1_000)
    await scenario({ post: `/v1/leads/${id}/won`, body, status: 200 })
    const { data: activity } = await scenario({ get: `/v1/leads/${id}/activity`, status: 200 })
    expect(activity[0]).toMatchObject({ type: 'won', notes: 'Second try.' })
    const told = (await eventsOf(harness, id)).filter(({ event }) => event === 'lead.won')
    expect(told).toHaveLength(2)
    expect(told[1].data).not.toHaveProperty('previous')
  })

  it('names the deal that sold the unit', async () => {
    const { unit } = await createStock(harness)
    const first = await createLead(harness)
    const body = { property_id: unit.id, deal_value: 10 }
    await winLead(harness, first.id, body)
    const { data: deals } = await scenario({ get: `/v1/deals?lead_id=${first.id}`, status: 200 })
    await scenario({ post: `/v1/deals/${deals[0].id}/close`, status: 200 })
    const { id } = await createLead(harness)
    const answer = await scenario({ post: `/v1/leads/${id}/won`, body, status: 409 })
    expect(answer.text).toContain(deals[0].id)
  })
})
