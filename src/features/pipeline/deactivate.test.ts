import { describe, expect, it } from 'vitest'
import { createLead, eventsOf, insertAgent, inviteGuest } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

const inject = (method: 'POST' | 'PUT', url: string, payload: object) =>
  harness
    .server()
    .inject({ method, url, headers: { authorization: `Bearer ${harness.tenant.adminKey}` }, payload })

describe('deactivating an agent', () => {
  it('hands over all leads, each with its event and activity', async () => {
    const [leaving, staying] = [await insertAgent(harness), await insertAgent(harness)]
    const leads = [
      await createLead(harness, { assigned_agent: leaving }),
      await createLead(harness, { assigned_agent: leaving }),
    ]
    await scenario({ post: `/v1/leads/${leads[1].id}/stage`, body: { stage: 'lost' }, status: 200 })
    harness.clock.advance(1_000)
    await scenario({
      post: `/v1/agents/${leaving}/deactivate`,
      body: { reassign_leads_to: staying, reason: 'Moved abroad.' },
      status: 200,
      match: { id: leaving, status: 'inactive', leads_reassigned: 2 },
      events: ['agent.deactivated', 'lead.assigned', 'lead.assigned'],
    })
    for (const { id } of leads) {
      const { data } = await scenario({ get: `/v1/leads/${id}?include_activity=true`, status: 200 })
      expect(data).toMatchObject({ assigned_agent: staying, updated_at: harness.clock.now().toISOString() })
      const { activity, ...lead } = data
      expect(activity[0]).toMatchObject({
        type: 'assignment',
        from: leaving,
        to: staying,
        reason: 'Moved abroad.',
      })
      const told = (await eventsOf(harness, id)).filter(({ event }) => event === 'lead.assigned').at(-1)
      expect(told.data).toEqual({ ...lead, previous: { assigned_agent: leaving } })
    }
    const [told] = (await eventsOf(harness, leaving)).filter(({ event }) => event === 'agent.deactivated')
    expect(told.data).toMatchObject({
      status: 'inactive',
      previous: { status: 'active' },
      reason: 'Moved abroad.',
    })
    await scenario({
      get: `/v1/agents/${staying}?include_stats=true`,
      status: 200,
      match: { stats: { active_leads: 1 } },
    })
  })

  it('needs no body, and its answer can be sent back', async () => {
    const agent = await insertAgent(harness)
    const { data } = await scenario({ post: `/v1/agents/${agent}/deactivate`, status: 200 })
    expect(data).toMatchObject({ status: 'inactive', leads_reassigned: 0 })
    await scenario({ put: `/v1/agents/${agent}`, body: data, status: 200 })
  })

  it('leaves the leads where nobody is named', async () => {
    const agent = await insertAgent(harness)
    const { id } = await createLead(harness, { assigned_agent: agent })
    const match = { leads_reassigned: 0 }
    const deactivate = { post: `/v1/agents/${agent}/deactivate`, body: {}, status: 200, match }
    await scenario({ ...deactivate, events: ['agent.deactivated'] })
    await scenario({ ...deactivate, events: [] })
    await scenario({ get: `/v1/leads/${id}`, status: 200, match: { assigned_agent: agent } })
  })

  it('moves more leads than fit into one batch', async () => {
    const [leaving, staying] = [await insertAgent(harness), await insertAgent(harness)]
    await harness.sql`
      insert into leads (workspace_id, id, name, email, source, score, assigned_agent, created_at, updated_at)
      select ${harness.tenant.production.id}, 'lead_many' || n, 'N', 'n@example.com', 'api', 0, ${leaving}, now(), now()
      from generate_series(1, 1500) n`
    const body = { reassign_leads_to: staying }
    const match = { leads_reassigned: 1500 }
    await scenario({ post: `/v1/agents/${leaving}/deactivate`, body, status: 200, match })
    const [told] = await harness.sql`
      select count(*)::int as n, count(distinct resource_id)::int as leads from events
      where event = 'lead.assigned' and resource_id like 'lead_many%'`
    expect(told).toEqual({ n: 1500, leads: 1500 })
  })

  it('refuses a successor who cannot take over, and changes nothing', async () => {
    const agent = await insertAgent(harness)
    const invited = await insertAgent(harness, { status: 'invited' })
    const inactive = await insertAgent(harness, { status: 'inactive' })
    for (const reassign_leads_to of [agent, invited, inactive, 'agent_none', 'team_x']) {
      const wrong = ['reassign_leads_to']
      const body = { reassign_leads_to }
      await scenario({ post: `/v1/agents/${agent}/deactivate`, body, status: 422, wrong, events: [] })
    }
    await scenario({ get: `/v1/agents/${agent}`, status: 200, match: { status: 'active' } })
  })

  it('never loses a lead that is assigned at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const [leaving, staying] = [await insertAgent(harness), await insertAgent(harness)]
      const [created] = await Promise.all([
        inject('POST', '/v1/leads', { name: 'N', email: 'n@example.com', assigned_agent: leaving }),
        inject('POST', `/v1/agents/${leaving}/deactivate`, { reassign_leads_to: staying }),
      ])
      expect([201, 422]).toContain(created.statusCode)
      const [left] = await harness.sql`select count(*)::int as n from leads where assigned_agent = ${leaving}`
      expect(left!.n).toBe(0)
    }
  })
})

describe('the last active owner', () => {
  it('can be neither deactivated nor demoted', async () => {
    const { ownerId } = harness.tenant
    const error = { code: 'CONFLICT', message: expect.stringContaining('last active owner') }
    await scenario({ post: `/v1/agents/${ownerId}/deactivate`, body: {}, status: 409, error, events: [] })
    await scenario({ put: `/v1/agents/${ownerId}`, body: { role: 'admin' }, status: 409, error })
    await scenario({ put: `/v1/agents/${ownerId}`, body: { role: 'owner', name: 'Olivia' }, status: 200 })
    await insertAgent(harness, { role: 'owner', status: 'invited' })
    // Active, but without an account: nobody who could sign in.
    const neverCame = await insertAgent(harness, { role: 'owner' })
    await scenario({ post: `/v1/agents/${ownerId}/deactivate`, body: {}, status: 409, error, events: [] })
    await scenario({ post: `/v1/agents/${neverCame}/deactivate`, status: 200 })
  })

  it('is still there when all owners leave at the same moment', async () => {
    const others = [
      (await inviteGuest(harness, 'owner')).agentId,
      (await inviteGuest(harness, 'owner')).agentId,
    ]
    const owners = [harness.tenant.ownerId, ...others]
    const answers = await Promise.all(
      owners.map((id, at) =>
        at % 2 === 0
          ? inject('POST', `/v1/agents/${id}/deactivate`, {})
          : inject('PUT', `/v1/agents/${id}`, { role: 'agent' }),
      ),
    )
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 409])
    const [left] = await harness.sql`
      select count(*)::int as n from agents
      where workspace_id = ${harness.tenant.production.id} and role = 'owner' and status = 'active'`
    expect(left!.n).toBe(1)
  })
})
