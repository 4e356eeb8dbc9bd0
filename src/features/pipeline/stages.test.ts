import { describe, expect, it } from 'vitest'
import { createLead, createStock, eventsOf, insertAgent } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { leadStages, lossReasons } from '../leads/schema.ts'

const harness = useHarness()
const { scenario } = harness

const activityOf = async (id: string) =>
  (await scenario({ get: `/v1/leads/${id}/activity`, status: 200 })).data
const lastEvent = async (id: string, name: string) =>
  (await eventsOf(harness, id)).filter(({ event }) => event === name).at(-1)

describe('changing a lead', () => {
  it('changes the fields sent and leaves the rest', async () => {
    const lead = await createLead(harness, { phone: '1', budget: { min: 1, max: 9 } })
    harness.clock.advance(1_000)
    const { data } = await scenario({
      put: `/v1/leads/${lead.id}`,
      body: { name: 'Amina H.', budget: { max: 5 }, phone: null },
      status: 200,
      match: {
        email: lead.email,
        name: 'Amina H.',
        budget: { min: 1, max: 5, currency: 'USD' },
        phone: null,
      },
      events: ['lead.updated'],
    })
    expect(data.updated_at).toBe(harness.clock.now().toISOString())
    const { data: told } = await lastEvent(lead.id, 'lead.updated')
    const previous = { name: lead.name, phone: '1', budget: lead.budget, score: lead.score }
    expect(told).toEqual({ ...data, previous })
    const [entry] = await activityOf(lead.id)
    expect(entry).toMatchObject({
      type: 'updated',
      user: harness.tenant.ownerId,
      changes: { name: { from: lead.name, to: 'Amina H.' }, phone: { from: '1', to: null } },
    })
  })

  it('leaves no trace when nothing changes', async () => {
    const lead = await createLead(harness, { tags: ['a'], budget: { max: 5 } })
    harness.clock.advance(1_000)
    const { data } = await scenario({ put: `/v1/leads/${lead.id}`, body: lead, status: 200, events: [] })
    expect(data).toEqual(lead)
    expect(await activityOf(lead.id)).toHaveLength(1)
    await scenario({ post: `/v1/leads/${lead.id}/stage`, body: { stage: 'new' }, status: 200, events: [] })
    expect(await activityOf(lead.id)).toHaveLength(1)
  })

  it('tells of a stage and an agent that changed', async () => {
    const agent = await insertAgent(harness)
    const { id } = await createLead(harness)
    await scenario({
      put: `/v1/leads/${id}`,
      body: { stage: 'qualified', assigned_agent: agent },
      status: 200,
      events: ['lead.updated', 'lead.stage_changed', 'lead.assigned'],
    })
    expect((await lastEvent(id, 'lead.assigned')).data.previous).toEqual({ assigned_agent: null })
    expect(await activityOf(id)).toMatchObject([
      { type: 'assignment', from: null, to: agent },
      { type: 'stage_change', from: 'new', to: 'qualified' },
      { type: 'created' },
    ])
    const unassign = { put: `/v1/leads/${id}`, body: { assigned_agent: null }, status: 200 }
    await scenario({ ...unassign, events: ['lead.updated'] })
  })

  it('takes back what it was answered with, activity included', async () => {
    const { id } = await createLead(harness)
    const { data } = await scenario({ get: `/v1/leads/${id}?include_activity=true`, status: 200 })
    await scenario({ put: `/v1/leads/${id}`, body: data, status: 200, events: [] })
  })

  it('keeps why a lost lead is lost for another reason', async () => {
    const { id } = await createLead(harness)
    await scenario({ post: `/v1/leads/${id}/lost`, body: { reason: 'other' }, status: 200 })
    harness.clock.advance(1_000)
    const body = { reason: 'price_too_high', notes: 'Told us so.' }
    await scenario({ post: `/v1/leads/${id}/lost`, body, status: 200, events: ['lead.updated'] })
    const { data } = await scenario({ get: `/v1/leads/${id}/activity`, status: 200 })
    expect(data[0]).toMatchObject({ type: 'lost', from: 'other', to: 'price_too_high', ...body })
  })

  it.each(['9999-12-31T23:59:59-12:00', '0001-01-01T00:00:00+12:00'])(
    'refuses %s, which is in no year that we know',
    async (next_follow_up) => {
      const { id } = await createLead(harness)
      await scenario({
        put: `/v1/leads/${id}`,
        body: { next_follow_up },
        status: 422,
        wrong: ['next_follow_up'],
      })
    },
  )

  it('refuses a name of spaces', async () => {
    const { id } = await createLead(harness)
    await scenario({ put: `/v1/leads/${id}`, body: { name: ' \n ' }, status: 422, wrong: ['name'] })
    const note = { content: ' \t' }
    await scenario({ post: `/v1/leads/${id}/notes`, body: note, status: 422, wrong: ['content'] })
  })

  it('checks only references that are new', async () => {
    const agent = await insertAgent(harness)
    const { unit } = await createStock(harness)
    const lead = await createLead(harness, { assigned_agent: agent, interested_properties: [unit.id] })
    await harness.sql`update agents set status = 'inactive' where id = ${agent}`
    await scenario({ delete: `/v1/units/${unit.id}`, status: 204 })
    const body = { ...lead, name: 'Renamed' }
    await scenario({ put: `/v1/leads/${lead.id}`, body, status: 200, events: ['lead.updated'] })
    const another = (await createStock(harness)).unit.id
    const kept = { interested_properties: [unit.id, another] }
    await scenario({ put: `/v1/leads/${lead.id}`, body: kept, status: 200, match: kept })
    const wrong = ['assigned_agent', 'interested_properties[1]']
    const other = await insertAgent(harness, { status: 'inactive' })
    const unknown = 'unit_01k9x2r4t6v8y0a1c3e5g7j9m1'
    await scenario({
      put: `/v1/leads/${lead.id}`,
      body: { assigned_agent: other, interested_properties: [another, unknown, unit.id] },
      status: 422,
      wrong,
      events: [],
    })
  })

  it.each([
    { sent: { stage: 'dead' }, wrong: ['stage'] },
    { sent: { stage: null }, wrong: ['stage'] },
    { sent: { status: 'new' }, wrong: ['status'] },
    { sent: { name: null, email: null }, wrong: ['email', 'name'] },
    { sent: { budget: { min: 10 } }, wrong: ['budget.min'] },
  ])('names $wrong as wrong', async ({ sent, wrong }) => {
    const { id } = await createLead(harness, { budget: { max: 5 } })
    await scenario({ put: `/v1/leads/${id}`, body: sent, status: 422, wrong, events: [] })
  })

  it('is refused when the lead has changed since', async () => {
    const { id } = await createLead(harness)
    const { headers } = await scenario({ get: `/v1/leads/${id}`, status: 200 })
    const ifMatch = { 'if-match': headers.etag! }
    await scenario({ put: `/v1/leads/${id}`, headers: ifMatch, body: { name: 'A' }, status: 200 })
    await scenario({ put: `/v1/leads/${id}`, headers: ifMatch, body: { name: 'B' }, status: 412, events: [] })
  })

  it('loses nothing when many change different fields at the same moment', async () => {
    const { id } = await createLead(harness)
    const bodies = [{ name: 'N' }, { phone: '7' }, { tags: ['t'] }, { notes: 'n' }, { timeline: 'immediate' }]
    await Promise.all(bodies.map((body) => scenario({ put: `/v1/leads/${id}`, body, status: 200 })))
    await scenario({ get: `/v1/leads/${id}`, status: 200, match: Object.assign({}, ...bodies) })
    expect((await eventsOf(harness, id)).filter(({ event }) => event === 'lead.updated')).toHaveLength(5)
    expect(await activityOf(id)).toHaveLength(6)
  })
})

describe('moving a lead to a stage', () => {
  it.each(leadStages.filter((stage) => stage !== 'new'))('reaches %s from anywhere', async (stage) => {
    const { id } = await createLead(harness)
    const reached = { won: ['lead.won'], lost: ['lead.lost'] }[stage as string] ?? []
    const events = ['lead.stage_changed', ...reached]
    await scenario({ post: `/v1/leads/${id}/stage`, body: { stage }, status: 200, match: { stage }, events })
    await scenario({
      post: `/v1/leads/${id}/stage`,
      body: { stage: 'new' },
      status: 200,
      match: { stage: 'new', loss_reason: null },
      events: ['lead.stage_changed'],
    })
    const put = { put: `/v1/leads/${id}`, body: { stage }, status: 200, match: { stage } }
    await scenario({ ...put, events: ['lead.updated', ...events] })
    await scenario({ get: `/v1/deals?lead_id=${id}`, status: 200, match: [] })
  })

  it('records from, to, reason and notes', async () => {
    const lead = await createLead(harness)
    harness.clock.advance(60_000)
    const { data } = await scenario({
      post: `/v1/leads/${lead.id}/stage`,
      body: { stage: 'contacted', reason: 'Called back', notes: 'In the evening.' },
      status: 200,
      match: { stage: 'contacted', last_contacted: harness.clock.now().toISOString() },
      events: ['lead.stage_changed'],
    })
    const activity = await activityOf(lead.id)
    expect(activity).toHaveLength(2)
    expect(activity[0]).toMatchObject({
      type: 'stage_change',
      from: 'new',
      to: 'contacted',
      reason: 'Called back',
      notes: 'In the evening.',
      user: harness.tenant.ownerId,
      timestamp: harness.clock.now().toISOString(),
    })
    const told = await lastEvent(lead.id, 'lead.stage_changed')
    expect(told.data).toEqual({
      ...data,
      previous: { stage: 'new', last_contacted: null, score: lead.score },
    })
  })

  it.each([
    { sent: {}, wrong: ['stage'] },
    { sent: { stage: 'dead' }, wrong: ['stage'] },
    { sent: { stage: 'won', status: 'x' }, wrong: ['status'] },
  ])('names $wrong as wrong', async ({ sent, wrong }) => {
    const { id } = await createLead(harness)
    await scenario({ post: `/v1/leads/${id}/stage`, body: sent, status: 422, wrong, events: [] })
  })
})

describe('losing a lead', () => {
  it.each(lossReasons)('keeps the reason %s', async (reason) => {
    const { id } = await createLead(harness)
    await scenario({
      post: `/v1/leads/${id}/lost`,
      body: { reason, notes: 'Sad.' },
      status: 200,
      match: { stage: 'lost', loss_reason: reason },
      events: ['lead.stage_changed', 'lead.lost'],
    })
    expect(await activityOf(id)).toMatchObject([
      { type: 'lost', reason, notes: 'Sad.' },
      { type: 'stage_change', from: 'new', to: 'lost', reason, notes: 'Sad.' },
      { type: 'created' },
    ])
  })

  it('takes another reason later, and tells of that as an update', async () => {
    const { id } = await createLead(harness)
    const lose = (reason: string, events: string[]) =>
      scenario({
        post: `/v1/leads/${id}/lost`,
        body: { reason },
        status: 200,
        match: { loss_reason: reason },
        events,
      })
    await lose('other', ['lead.stage_changed', 'lead.lost'])
    await lose('unresponsive', ['lead.updated'])
    await lose('unresponsive', [])
  })

  it('knows the reason of a stage change where it is one of the list, else other', async () => {
    const { id } = await createLead(harness)
    const move = (body: object, loss_reason: string | null) =>
      scenario({ post: `/v1/leads/${id}/stage`, body, status: 200, match: { loss_reason } })
    await move({ stage: 'lost', reason: 'financing_failed' }, 'financing_failed')
    await move({ stage: 'new' }, null)
    await move({ stage: 'lost', reason: 'No idea.' }, 'other')
    await scenario({
      put: `/v1/leads/${id}`,
      body: { name: 'N' },
      status: 200,
      match: { loss_reason: 'other' },
    })
  })

  it.each([
    { sent: {}, wrong: ['reason'] },
    { sent: { reason: null }, wrong: ['reason'] },
    { sent: { reason: 'bored' }, wrong: ['reason'] },
    { sent: { reason: 'other', notes: 7 }, wrong: ['notes'] },
  ])('names $wrong as wrong', async ({ sent, wrong }) => {
    const { id } = await createLead(harness)
    await scenario({ post: `/v1/leads/${id}/lost`, body: sent, status: 422, wrong, events: [] })
  })
})
