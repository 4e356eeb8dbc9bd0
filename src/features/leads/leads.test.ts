import { describe, expect, it } from 'vitest'
import { aLead, createLead, createStock, eventsOf, insertAgent } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { leadSources } from './schema.ts'

const harness = useHarness()
const { scenario } = harness

describe('creating a lead', () => {
  it('fills in what was left out', async () => {
    const { data, headers } = await scenario({
      post: '/v1/leads',
      body: aLead,
      status: 201,
      match: {
        ...aLead,
        phone: null,
        source: 'api',
        stage: 'new',
        assigned_agent: null,
        interested_properties: [],
        budget: null,
        timeline: null,
        notes: null,
        tags: [],
        loss_reason: null,
        last_contacted: null,
        next_follow_up: null,
        created_at: '2026-03-01T09:00:00.000Z',
        updated_at: '2026-03-01T09:00:00.000Z',
      },
      events: ['lead.created'],
    })
    expect(data.id).toMatch(/^lead_/)
    expect(data.score).toBe(20)
    expect(headers.location).toBe(`/v1/leads/${data.id}`)
    await scenario({ get: `/v1/leads/${data.id}`, status: 200, match: data })
    const [created] = await eventsOf(harness, data.id)
    expect(created).toMatchObject({ event: 'lead.created', data, workspace_id: harness.tenant.production.id })
  })

  it('keeps everything that was sent', async () => {
    const agent = await insertAgent(harness)
    const { property, unit } = await createStock(harness)
    const body = {
      ...aLead,
      phone: '+971 50 555 0182',
      source: 'referral',
      assigned_agent: agent,
      interested_properties: [property.id, unit.id],
      budget: { min: 100, max: 200.5, currency: 'EUR' },
      timeline: '3_months',
      notes: 'High floor.',
      tags: ['investor', 'vip'],
      last_contacted: '2026-02-01T10:00:00.000Z',
      next_follow_up: '2026-04-01T10:00:00.000Z',
    }
    const events = ['lead.created', 'lead.assigned']
    const { data } = await scenario({ post: '/v1/leads', body, status: 201, match: body, events })
    await scenario({ get: `/v1/leads/${data.id}`, status: 200, match: data })
    const told = await eventsOf(harness, data.id)
    const assigned = told.find(({ event }) => event === 'lead.assigned')
    expect(assigned.data).toEqual({ ...data, previous: { assigned_agent: null } })
  })

  it.each(leadSources)('takes the source %s', async (source) => {
    expect(await createLead(harness, { source })).toMatchObject({ source })
  })

  it.each(['immediate', '1_months', '120_months'])('takes the timeline %s', async (timeline) => {
    expect(await createLead(harness, { timeline })).toMatchObject({ timeline })
  })

  it('takes the currency of the workspace for a budget without one', async () => {
    const lead = await createLead(harness, { budget: { max: 5 } })
    expect(lead.budget).toEqual({ min: null, max: 5, currency: 'USD' })
  })

  it('lets two leads share an e-mail address', async () => {
    const [one, two] = [await createLead(harness), await createLead(harness)]
    expect(one.id).not.toBe(two.id)
  })

  it('ignores what only the service sets, and begins at new', async () => {
    const sent = { id: 'lead_mine', score: 99, stage: 'won', loss_reason: 'other', created_at: 'x' }
    const lead = await createLead(harness, sent)
    expect(lead).toMatchObject({ stage: 'new', loss_reason: null, created_at: '2026-03-01T09:00:00.000Z' })
    expect(lead.score).toBe(20)
  })

  it.each([
    { sent: {}, wrong: ['email', 'name'] },
    { sent: { ...aLead, status: 'new' }, wrong: ['status'] },
    { sent: { ...aLead, email: 'amina' }, wrong: ['email'] },
    { sent: { ...aLead, source: 'radio' }, wrong: ['source'] },
    { sent: { ...aLead, timeline: 'soon' }, wrong: ['timeline'] },
    { sent: { ...aLead, timeline: '0_months' }, wrong: ['timeline'] },
    { sent: { ...aLead, budget: { min: 2, max: 1 } }, wrong: ['budget.min'] },
    { sent: { ...aLead, budget: { min: -1 } }, wrong: ['budget.min'] },
    { sent: { ...aLead, budget: { max: 1.001 } }, wrong: ['budget.max'] },
    { sent: { ...aLead, tags: Array(101).fill('x') }, wrong: ['tags'] },
    { sent: { ...aLead, notes: 'x'.repeat(10_001) }, wrong: ['notes'] },
    { sent: { ...aLead, next_follow_up: 'tomorrow' }, wrong: ['next_follow_up'] },
    { sent: { ...aLead, assigned_agent: 'team_1' }, wrong: ['assigned_agent'] },
    { sent: { ...aLead, assigned_agent: 'agent_nobody' }, wrong: ['assigned_agent'] },
    {
      sent: { ...aLead, interested_properties: ['prop_none', 'unit_none'] },
      wrong: ['interested_properties[0]', 'interested_properties[1]'],
    },
    { sent: { ...aLead, interested_properties: ['lead_1'] }, wrong: ['interested_properties[0]'] },
  ])('names $wrong as wrong', async ({ sent, wrong }) => {
    await scenario({ post: '/v1/leads', body: sent, status: 422, wrong, events: [] })
  })

  it('says that status was renamed', async () => {
    const details = [{ field: 'status', message: 'was renamed stage.' }]
    await scenario({ post: '/v1/leads', body: { ...aLead, status: 'new' }, status: 422, error: { details } })
  })

  it('says which reference is broken, and writes nothing', async () => {
    const { property } = await createStock(harness)
    const inactive = await insertAgent(harness, { status: 'inactive' })
    const other = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'GBP' })
    await scenario({
      post: '/v1/leads',
      body: { ...aLead, assigned_agent: inactive, interested_properties: [property.id, 'unit_gone'] },
      status: 422,
      wrong: ['assigned_agent', 'interested_properties[1]'],
      events: [],
    })
    await scenario({
      post: '/v1/leads',
      body: { ...aLead, assigned_agent: other.ownerId },
      status: 422,
      wrong: ['assigned_agent'],
    })
    const [left] = await harness.sql`
      select count(*)::int as n from lead_activity where not exists (select from leads where leads.id = lead_id)`
    expect(left!.n).toBe(0)
  })

  it('cannot be assigned to somebody inactive, neither now nor later', async () => {
    const assigned_agent = await insertAgent(harness, { status: 'inactive' })
    const details = [{ field: 'assigned_agent', message: 'names an agent who is inactive.' }]
    const refused = { status: 422, error: { details }, events: [] }
    await scenario({ post: '/v1/leads', body: { ...aLead, assigned_agent }, ...refused })
    const { id } = await createLead(harness)
    await scenario({ put: `/v1/leads/${id}`, body: { assigned_agent }, ...refused })
  })

  it('can be assigned to somebody who is still invited', async () => {
    const invited = await insertAgent(harness, { status: 'invited' })
    expect(await createLead(harness, { assigned_agent: invited })).toMatchObject({ assigned_agent: invited })
  })
})

describe('reading a lead', () => {
  it('adds the agent, the properties and the activity where asked', async () => {
    const agent = await insertAgent(harness, { name: 'Sara Almeida' })
    const { property, unit } = await createStock(harness)
    const { id } = await createLead(harness, {
      assigned_agent: agent,
      interested_properties: [unit.id, property.id],
    })
    const { data } = await scenario({
      get: `/v1/leads/${id}?expand=agent,properties&include_activity=true&fields=name`,
      status: 200,
    })
    expect(data).toEqual({
      id,
      name: 'Amina Haddad',
      agent: { id: agent, name: 'Sara Almeida', email: `${agent}@example.com` },
      properties: [
        { id: unit.id, name: 'A-1204', property_id: property.id, unit_number: null, status: 'available' },
        { id: property.id, name: 'Marina Heights', location: { area: null, city: 'Dubai' } },
      ],
      activity: [
        expect.objectContaining({ type: 'assignment' }),
        expect.objectContaining({ type: 'created' }),
      ],
    })
  })

  it('expands what has no relation to null and an empty list', async () => {
    const { id } = await createLead(harness)
    const match = { agent: null, properties: [] }
    await scenario({ get: `/v1/leads/${id}?expand=agent,properties`, status: 200, match })
  })

  it('needs the scope of what it expands', async () => {
    const { id } = await createLead(harness)
    const as = await harness.createKey(harness.tenant.production, ['read:leads'])
    await scenario({ as, get: `/v1/leads/${id}`, status: 200 })
    await scenario({ as, get: `/v1/leads/${id}?expand=agent`, status: 403 })
    await scenario({ as, get: `/v1/leads?expand=properties`, status: 403 })
  })

  it('answers 404 for a lead of another workspace, and for anything else', async () => {
    const other = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'GBP' })
    const theirs = await createLead(harness, {}, other.adminKey)
    for (const id of [theirs.id, 'lead_none', 'prop_1', 'x']) {
      await scenario({ get: `/v1/leads/${id}`, status: 404 })
      await scenario({ get: `/v1/leads/${id}/activity`, status: 404 })
      await scenario({ put: `/v1/leads/${id}`, body: { name: 'Mine' }, status: 404, events: [] })
      await scenario({ post: `/v1/leads/${id}/stage`, body: { stage: 'lost' }, status: 404, events: [] })
      await scenario({ post: `/v1/leads/${id}/notes`, body: { content: 'Hi' }, status: 404, events: [] })
    }
  })

  it('answers 304 while nothing has changed', async () => {
    const { id } = await createLead(harness)
    const { headers } = await scenario({ get: `/v1/leads/${id}`, status: 200 })
    const ifNoneMatch = { 'if-none-match': headers.etag! }
    await scenario({ get: `/v1/leads/${id}`, headers: ifNoneMatch, status: 304 })
    await scenario({ put: `/v1/leads/${id}`, body: { name: 'New' }, status: 200 })
    await scenario({ get: `/v1/leads/${id}`, headers: ifNoneMatch, status: 200 })
  })
})

describe('notes', () => {
  it('are kept with their writer, and told in the activity', async () => {
    const { id } = await createLead(harness)
    const { data } = await scenario({
      post: `/v1/leads/${id}/notes`,
      body: { content: 'Likes the view.' },
      status: 201,
      match: { lead_id: id, content: 'Likes the view.', type: 'note', user: harness.tenant.ownerId },
      events: [],
    })
    expect(data.id).toMatch(/^note_/)
    const { data: activity } = await scenario({ get: `/v1/leads/${id}/activity`, status: 200 })
    expect(activity[0]).toMatchObject({
      type: 'note',
      description: 'Likes the view.',
      user: harness.tenant.ownerId,
    })
    await scenario({ get: `/v1/leads/${id}`, status: 200, match: { last_contacted: null } })
  })

  it.each(['call', 'call_summary', 'email', 'meeting', 'sms'])(
    'of type %s date the last contact',
    async (type) => {
      const { id } = await createLead(harness)
      const body = { content: 'Spoke.', type }
      await scenario({ post: `/v1/leads/${id}/notes`, body, status: 201, match: { type }, events: [] })
      await scenario({ post: `/v1/leads/${id}/notes`, body, status: 201, match: { type }, events: [] })
      const last_contacted = harness.clock.now().toISOString()
      await scenario({ get: `/v1/leads/${id}`, status: 200, match: { last_contacted } })
      const { body: answer } = await scenario({ get: `/v1/leads/${id}/activity`, status: 200 })
      expect(answer.data.map((entry: { type: string }) => entry.type)).toEqual(['note', 'note', 'created'])
    },
  )

  it.each([
    { sent: {}, wrong: ['content'] },
    { sent: { content: null }, wrong: ['content'] },
    { sent: { content: '' }, wrong: ['content'] },
    { sent: { content: 'x', type: '' }, wrong: ['type'] },
    { sent: { content: 'x', text: 'y' }, wrong: ['text'] },
  ])('name $wrong as wrong', async ({ sent, wrong }) => {
    const { id } = await createLead(harness)
    await scenario({ post: `/v1/leads/${id}/notes`, body: sent, status: 422, wrong })
  })
})

describe('activity', () => {
  it('is paged, newest first, and tells who did what', async () => {
    const { id } = await createLead(harness)
    for (const content of ['one', 'two', 'three']) {
      harness.clock.advance(1_000)
      await scenario({ post: `/v1/leads/${id}/notes`, body: { content }, status: 201 })
    }
    const { body } = await scenario({ get: `/v1/leads/${id}/activity?per_page=3`, status: 200 })
    expect(body.data.map((entry: { description: string }) => entry.description)).toEqual([
      'three',
      'two',
      'one',
    ])
    expect(body.meta).toEqual({ page: 1, per_page: 3, total: 4, total_pages: 2 })
    const { data } = await scenario({ get: body.links.next, status: 200 })
    expect(data).toMatchObject([{ type: 'created', lead_id: id, to: 'new' }])
  })
})
