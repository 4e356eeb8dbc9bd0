import { describe, expect, it } from 'vitest'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

const createTeam = async (name: string) =>
  (await scenario({ post: '/v1/teams', body: { name }, status: 201, events: [] })).data

describe('teams', () => {
  it('are created, read, changed and listed', async () => {
    const { data, headers } = await scenario({
      post: '/v1/teams',
      body: { name: 'Waterfront' },
      status: 201,
      match: { name: 'Waterfront', agents_count: 0, created_at: '2026-03-01T09:00:00.000Z' },
      events: [],
    })
    expect(data.id).toMatch(/^team_/)
    expect(headers.location).toBe(`/v1/teams/${data.id}`)
    await scenario({ get: `/v1/teams/${data.id}`, status: 200, match: data })
    harness.clock.advance(1_000)
    const body = { name: 'Marina' }
    const updated_at = harness.clock.now().toISOString()
    await scenario({ put: `/v1/teams/${data.id}`, body, status: 200, match: { ...body, updated_at } })
    await scenario({ get: '/v1/teams?search=mari&sort=name', status: 200, match: [{ id: data.id }] })
    const headersIf = { 'if-match': '"9-x"' }
    await scenario({ put: `/v1/teams/${data.id}`, headers: headersIf, body, status: 412 })
  })

  it('count their agents', async () => {
    const { id } = await createTeam('Counted')
    for (const email of ['a@example.com', 'b@example.com'])
      await scenario({ post: '/v1/agents', body: { email, name: 'A', team_id: id }, status: 201 })
    await scenario({ get: `/v1/teams/${id}`, status: 200, match: { agents_count: 2 } })
    const { data } = await scenario({ get: `/v1/agents?team_id=${id}&per_page=1`, status: 200 })
    await scenario({ post: `/v1/agents/${data[0].id}/deactivate`, body: {}, status: 200 })
    await scenario({ get: `/v1/teams/${id}`, status: 200, match: { agents_count: 1 } })
  })

  it('name what is wrong', async () => {
    await scenario({ post: '/v1/teams', body: {}, status: 422, wrong: ['name'] })
    await scenario({ post: '/v1/teams', body: { name: '', lead: 'x' }, status: 422, wrong: ['lead', 'name'] })
    const { id } = await createTeam('T')
    await scenario({ put: `/v1/teams/${id}`, body: { name: null }, status: 422, wrong: ['name'] })
  })

  it('answer 404 for those of another workspace', async () => {
    const other = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'GBP' })
    const { id } = await createTeam('Mine')
    await scenario({ as: other.adminKey, get: `/v1/teams/${id}`, status: 404 })
    await scenario({ as: other.adminKey, put: `/v1/teams/${id}`, body: { name: 'X' }, status: 404 })
    await scenario({ get: '/v1/teams/agent_1', status: 404 })
  })
})
