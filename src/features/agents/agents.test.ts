import { describe, expect, it } from 'vitest'
import { createLead, eventsOf, insertAgent, insertTeam } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { agentStatuses } from './schema.ts'

const harness = useHarness()
const { scenario } = harness

let made = 0
const anAgent = () => ({ name: 'Sara Almeida', email: `sara${made++}@example.com` })
const invite = async (body: object = {}) =>
  (await scenario({ post: '/v1/agents', body: { ...anAgent(), ...body }, status: 201 })).data

describe('inviting an agent', () => {
  it('fills in what was left out', async () => {
    const body = anAgent()
    const { data, headers } = await scenario({
      post: '/v1/agents',
      body,
      status: 201,
      match: {
        ...body,
        role: 'agent',
        status: 'invited',
        profile: null,
        team_id: null,
        commission: null,
        stats: null,
        last_active: null,
        invitation_sent_at: '2026-03-01T09:00:00.000Z',
        created_at: '2026-03-01T09:00:00.000Z',
      },
      events: ['agent.created'],
    })
    expect(data.id).toMatch(/^agent_/)
    expect(headers.location).toBe(`/v1/agents/${data.id}`)
    await scenario({ get: `/v1/agents/${data.id}`, status: 200, match: data })
    const [told] = await eventsOf(harness, data.id)
    expect(told).toMatchObject({ event: 'agent.created', data })
  })

  it('keeps everything that was sent', async () => {
    const team_id = await insertTeam(harness, harness.tenant.production.id, 'North')
    const body = {
      ...anAgent(),
      role: 'viewer',
      team_id,
      profile: {
        phone: '+351 21 555 0134',
        photo: 'https://cdn.example.com/sara.jpg',
        bio: 'Knows the river.',
        languages: ['pt', 'en'],
        license_number: 'AMI-1',
      },
      commission: { tier: 'senior', rate: 0.035 },
    }
    const { data } = await scenario({ post: '/v1/agents', body, status: 201, match: body })
    await scenario({
      get: `/v1/agents/${data.id}?expand=team`,
      status: 200,
      match: { ...body, team: { id: team_id, name: 'North' } },
    })
  })

  it.each(['owner', 'admin', 'agent', 'viewer'])('takes the role %s', async (role) => {
    expect(await invite({ role })).toMatchObject({ role })
  })

  it('always begins as invited', async () => {
    expect(await invite({ status: 'active', stats: { active_leads: 9 } })).toMatchObject({
      status: 'invited',
      stats: null,
    })
  })

  it('refuses an e-mail address that somebody has, whatever the case', async () => {
    const { email } = await invite()
    const body = { ...anAgent(), email: email.toUpperCase() }
    const error = { code: 'CONFLICT', message: expect.stringContaining('email') }
    await scenario({ post: '/v1/agents', body, status: 409, error, events: [] })
    const other = await invite()
    await scenario({ put: `/v1/agents/${other.id}`, body: { email }, status: 409 })
  })

  it('lets only admins make admins and owners', async () => {
    const as = await harness.createKey(harness.tenant.production, ['write:agents'])
    await scenario({ as, post: '/v1/agents', body: anAgent(), status: 201 })
    for (const role of ['owner', 'admin'])
      await scenario({ as, post: '/v1/agents', body: { ...anAgent(), role }, status: 403, events: [] })
    const { id } = await invite()
    await scenario({ as, put: `/v1/agents/${id}`, body: { role: 'admin' }, status: 403 })
    const owner = `/v1/agents/${harness.tenant.ownerId}`
    await scenario({ as, put: owner, body: { role: 'agent' }, status: 403 })
    await scenario({ as, put: owner, body: { role: 'owner', name: 'Olivia O.' }, status: 200 })
    const inSandbox = { as: harness.tenant.testKey, on: 'sandbox' as const }
    await scenario({ ...inSandbox, post: '/v1/agents', body: { ...anAgent(), role: 'admin' }, status: 201 })
  })

  it.each([
    { sent: {}, wrong: ['email', 'name'] },
    { sent: { name: 'S', email: 'nobody' }, wrong: ['email'] },
    { sent: { ...anAgent(), role: 'boss' }, wrong: ['role'] },
    { sent: { ...anAgent(), commission: { rate: 1.1 } }, wrong: ['commission.rate'] },
    { sent: { ...anAgent(), commission: { rate: -0.1 } }, wrong: ['commission.rate'] },
    { sent: { ...anAgent(), profile: { photo: 'me.jpg' } }, wrong: ['profile.photo'] },
    { sent: { ...anAgent(), team_id: 'team_none' }, wrong: ['team_id'] },
    { sent: { ...anAgent(), team_id: 'agent_1' }, wrong: ['team_id'] },
  ])('names $wrong as wrong', async ({ sent, wrong }) => {
    await scenario({ post: '/v1/agents', body: sent, status: 422, wrong, events: [] })
  })
})

describe('changing an agent', () => {
  it('changes the fields sent and leaves the rest, without an event', async () => {
    const agent = await invite({ commission: { tier: 'standard', rate: 0.02 } })
    await scenario({
      put: `/v1/agents/${agent.id}`,
      body: { commission: { rate: 0.03 }, profile: { languages: ['pt'] } },
      status: 200,
      match: { email: agent.email, commission: { tier: 'standard', rate: 0.03 } },
      events: [],
    })
  })

  it('brings an inactive agent back', async () => {
    const id = await insertAgent(harness, { status: 'inactive' })
    await scenario({
      put: `/v1/agents/${id}`,
      body: { status: 'active' },
      status: 200,
      match: { status: 'active' },
    })
  })

  it.each([
    { from: 'invited', to: 'active' },
    { from: 'active', to: 'inactive' },
    { from: 'active', to: 'invited' },
    { from: 'inactive', to: 'invited' },
  ])('is 409 from $from to $to', async ({ from, to }) => {
    const id = await insertAgent(harness, { status: from })
    await scenario({
      put: `/v1/agents/${id}`,
      body: { status: to },
      status: 409,
      error: { code: 'CONFLICT' },
    })
  })

  it('is refused when the agent has changed since', async () => {
    const { id } = await invite()
    const headers = { 'if-match': '"7-x"' }
    await scenario({ put: `/v1/agents/${id}`, headers, body: { name: 'N' }, status: 412 })
  })

  it('answers 404 for what is not there', async () => {
    const other = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'GBP' })
    for (const id of [other.ownerId, 'agent_none', 'x']) {
      await scenario({ get: `/v1/agents/${id}`, status: 404 })
      await scenario({ put: `/v1/agents/${id}`, body: { role: 'viewer' }, status: 404 })
      await scenario({ get: `/v1/agents/${id}/stats`, status: 404 })
      await scenario({ get: `/v1/agents/${id}/leads`, status: 404 })
      await scenario({ post: `/v1/agents/${id}/deactivate`, body: {}, status: 404, events: [] })
    }
  })
})

describe('listing agents', () => {
  it('filters by status, role, team and search', async () => {
    const team_id = await insertTeam(harness, harness.tenant.production.id, 'South')
    const { id, email } = await invite({ name: 'Zoë Quist', team_id, role: 'viewer' })
    const idsFor = async (query: string) =>
      (await scenario({ get: `/v1/agents?per_page=100&${query}`, status: 200 })).data.map(
        (one: { id: string }) => one.id,
      )
    expect(await idsFor(`team_id=${team_id}`)).toEqual([id])
    expect(await idsFor('search=zoë%20q')).toEqual([id])
    expect(await idsFor(`search=${email.toUpperCase()}`)).toEqual([id])
    expect(await idsFor('search=%25')).toEqual([])
    expect(await idsFor('status=invited&role=viewer')).toContain(id)
    expect(await idsFor('status=active,inactive')).not.toContain(id)
    await scenario({ get: '/v1/agents?role=boss', status: 422, wrong: ['role'] })
    for (const status of agentStatuses) await scenario({ get: `/v1/agents?status=${status}`, status: 200 })
    for (const sort of ['created_at', 'name', 'email', 'last_active'])
      await scenario({ get: `/v1/agents?sort=${sort}`, status: 200 })
  })

  it('shows the figures, and the team and the leads where asked', async () => {
    const agent = await insertAgent(harness, { name: 'Listed Once' })
    const lead = await createLead(harness, { assigned_agent: agent })
    const { data } = await scenario({ get: '/v1/agents?search=Listed%20Once&expand=team,leads', status: 200 })
    expect(data[0]).toMatchObject({
      stats: { active_leads: 1, deals_closed: 0, total_revenue: 0 },
      team: null,
      leads: [{ id: lead.id, name: lead.name, email: lead.email, stage: 'new', score: lead.score }],
    })
    const as = await harness.createKey(harness.tenant.production, ['read:agents'])
    await scenario({ as, get: '/v1/agents?expand=leads', status: 403 })
    await scenario({ as, get: `/v1/agents/${agent}/leads`, status: 403 })
  })
})
