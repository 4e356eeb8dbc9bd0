import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { errorsOf, importFile, lines } from '../../../test/importing.ts'

const harness = useHarness()
const { scenario } = harness

let propertyId: string
let ownerEmail: string
beforeAll(async () => {
  propertyId = (await createProperty(harness, { external_id: 'HOME' })).id
  const [owner] = await harness.sql`select email from agents where id = ${harness.tenant.ownerId}`
  ownerEmail = owner!.email
})

const leadWith = async (email: string) =>
  (await scenario({ get: `/v1/leads?search=${encodeURIComponent(email)}`, status: 200 })).data

describe('importing leads', () => {
  it('finds their columns, agents and interests, and keeps where they stand', async () => {
    await createUnit(harness, propertyId, { external_id: 'U-1' })
    const file = lines(
      'Full Name,E-Mail,Mobile,Lead Source,Status,Agent,Interested in,Budget,Tags,Created on',
      `Amina,amina@example.com,'+971 5,Walk In,Negotiation,${ownerEmail},HOME|U-1,500000,a|b,2026-01-02`,
      'Bo,bo@example.com,,,,,,,,',
    )
    const done = await importFile(harness, {
      post: '/v1/leads/import',
      file,
    })
    expect(done).toMatchObject({ created: 2, failed: 0, ignored_columns: [], on_duplicate: 'create' })
    const [amina] = await leadWith('amina@example.com')
    expect(amina).toMatchObject({
      name: 'Amina',
      phone: '+971 5',
      source: 'walk_in',
      stage: 'negotiation',
      assigned_agent: harness.tenant.ownerId,
      interested_properties: [propertyId, expect.stringMatching(/^unit_/)],
      budget: { min: null, max: 500_000, currency: 'USD' },
      tags: ['a', 'b'],
      created_at: '2026-01-02T00:00:00.000Z',
    })
    const { data } = await scenario({ get: `/v1/leads/${amina.id}/activity`, status: 200 })
    expect(data).toMatchObject([
      { type: 'stage_change', from: 'new', to: 'negotiation' },
      { type: 'created', to: 'new', timestamp: '2026-01-02T00:00:00.000Z' },
    ])
    expect(await leadWith('bo@example.com')).toMatchObject([{ stage: 'new', source: 'api' }])
  })

  it('makes two of two alike unless told otherwise, and updates through the same door as a PUT', async () => {
    const file = lines('name,email,stage', 'Cy,CY@example.com,new')
    await importFile(harness, { post: '/v1/leads/import', file })
    expect(await importFile(harness, { post: '/v1/leads/import?on_duplicate=skip', file })).toMatchObject({
      skipped: 1,
    })
    const update = lines('name,email,stage', 'Cyrus,cy@example.com,lost')
    const done = await importFile(harness, { post: '/v1/leads/import?on_duplicate=update', file: update })
    expect(done).toMatchObject({ updated: 1 })
    const [cy] = await leadWith('cy@example.com')
    expect(cy).toMatchObject({ name: 'Cyrus', stage: 'lost', loss_reason: 'other' })
    await scenario({ post: `/v1/imports/${done.id}/revert`, status: 200 })
    expect(await leadWith('cy@example.com')).toMatchObject([{ name: 'Cy', stage: 'new' }])
    await importFile(harness, { post: '/v1/leads/import', file })
    expect(await leadWith('cy@example.com')).toHaveLength(2)
  })

  it('refuses a past that makes no sense', async () => {
    const file = lines(
      'name,email,stage_history',
      'D,d@example.com,new@yesterday',
      'E,e@example.com,new@2026-01-01T00:00:00Z|won@2026-01-03T00:00:00Z',
      'D,d@example.com,new@2026-01-03T00:00:00Z|won@2026-01-01T00:00:00Z',
      'D,d@example.com,new@2026-01-03T00:00:00Z|won@2126-01-01T00:00:00Z',
      'D,d@example.com,new@2026-01-03T00:00:00Z@nobody@example.com',
    )
    const done = await importFile(harness, { post: '/v1/leads/import', file })
    expect(done).toMatchObject({ created: 1, failed: 4 })
    expect(await errorsOf(harness, done.id)).toMatchObject([
      { line: 2, column: 'stage_history' },
      { line: 4, column: 'stage_history', message: expect.stringContaining('forward in time') },
      { line: 5, column: 'stage_history', message: expect.stringContaining('forward in time') },
      { line: 6, column: 'stage_history', message: expect.stringContaining('nobody@example.com') },
    ])
    expect(await leadWith('e@example.com')).toMatchObject([{ stage: 'won' }])
  })

  it('keeps a long past, with whoever looked after them then', async () => {
    const stays = Array.from({ length: 500 }, (_, at) => {
      const stage = at % 2 ? 'contacted' : 'new'
      return `${stage}@${new Date(Date.UTC(2025, 0, 1, at)).toISOString()}`
    })
    const past = [...stays, `won@2026-01-03T00:00:00Z@${ownerEmail}`].join('|')
    const file = lines('name,email,stage_history', `Long,long@example.com,${past}`)
    expect(await importFile(harness, { post: '/v1/leads/import', file })).toMatchObject({ created: 1 })
    const { data } = await scenario({
      get: '/v1/leads/export?format=json&include_history=true&search=long@',
      status: 200,
    })
    expect(data[0].stage_history).toEqual([
      ...stays,
      `won@2026-01-03T00:00:00.000Z@${harness.tenant.ownerId}`,
    ])
    const [lead] = await leadWith('long@example.com')
    await scenario({
      put: `/v1/leads/${lead.id}`,
      body: { assigned_agent: harness.tenant.ownerId },
      status: 200,
    })
    const { text } = await scenario({
      get: '/v1/leads/export?include_history=true&search=long@',
      status: 200,
    })
    expect(text).toContain('new@2025-01-01T00:00:00.000Z@|')
  })

  it('takes short times, and leaves out interests in what is gone', async () => {
    const unit = await createUnit(harness, propertyId)
    const file = lines(
      'name,email,next_follow_up,last_contacted,interested_properties',
      `G,gone@example.com,2026-05-31,2026-01-31 09:30,${unit.id}|HOME`,
    )
    expect(await importFile(harness, { post: '/v1/leads/import', file })).toMatchObject({ created: 1 })
    expect(await leadWith('gone@example.com')).toMatchObject([
      { next_follow_up: '2026-05-31T00:00:00.000Z', last_contacted: '2026-01-31T09:30:00.000Z' },
    ])
    await scenario({ delete: `/v1/units/${unit.id}`, status: 204 })
    const { text } = await scenario({ get: '/v1/leads/export?search=gone@', status: 200 })
    expect(text).toContain(propertyId)
    expect(text).not.toContain(unit.id)
    const other = await harness.createTenant({ name: 'Elsewhere', plan: 'enterprise', currency: 'EUR' })
    await createProperty(harness, { external_id: propertyId }, other.adminKey)
    const moved = await importFile(harness, { as: other.adminKey, post: '/v1/leads/import', file: text })
    expect(moved).toMatchObject({ created: 1, failed: 0 })
    const [lead] = await leadWith('gone@example.com')
    await scenario({ put: `/v1/leads/${lead.id}`, body: { interested_properties: [] }, status: 200 })
  })

  it('cannot be taken back once somebody has written about one', async () => {
    const done = await importFile(harness, {
      post: '/v1/leads/import',
      file: lines('name,email', 'F,f@example.com'),
    })
    const [lead] = await leadWith('f@example.com')
    await scenario({ post: `/v1/leads/${lead.id}/notes`, body: { content: 'Called.' }, status: 201 })
    await scenario({ post: `/v1/imports/${done.id}/revert`, status: 409 })
  })
})

describe('importing agents and teams', () => {
  it('invites them, but for those who have left', async () => {
    await importFile(harness, { post: '/v1/teams/import', file: lines('name', 'Waterfront') })
    const file = lines(
      'name,email,role,team,status,phone,commission',
      'Sara,sara@example.com,Agent,waterfront,active,123,0.03',
      'Tom,tom@example.com,agent,,inactive,,',
      'Sara again,SARA@example.com,agent,,,,',
      `Owner,${ownerEmail},owner,,,,`,
      'Uma,uma@example.com,agent,No such team,,,',
    )
    const done = await importFile(harness, { post: '/v1/agents/import', file })
    expect(done).toMatchObject({ created: 2, skipped: 2, failed: 1 })
    const { data } = await scenario({ get: '/v1/agents?search=sara@', status: 200 })
    expect(data).toMatchObject([
      {
        name: 'Sara',
        status: 'invited',
        commission: { rate: 0.03 },
        profile: { phone: '123' },
        team_id: expect.stringMatching(/^team_/),
      },
    ])
    const mailed = await harness.sql`select recipient from mail`
    expect(mailed.map(({ recipient }) => recipient)).toEqual(['sara@example.com'])
    expect((await scenario({ get: '/v1/agents?status=inactive', status: 200 })).data).toMatchObject([
      { name: 'Tom' },
    ])
    await scenario({ post: `/v1/imports/${done.id}/revert`, status: 200 })
    expect((await scenario({ get: '/v1/agents?search=sara@', status: 200 })).data).toEqual([])
  })

  it('makes nobody an owner who could not be made one otherwise', async () => {
    const as = await harness.createKey(harness.tenant.production, ['write:agents'])
    const file = lines('name,email,role', 'Eve,eve@example.com,owner')
    const done = await importFile(harness, { as, post: '/v1/agents/import', file })
    expect(done).toMatchObject({ created: 0, failed: 1 })
    expect(await errorsOf(harness, done.id)).toMatchObject([{ column: 'role' }])
  })
})

describe('importing deals', () => {
  it('brings them in as they were, and refuses what contradicts itself', async () => {
    await importFile(harness, {
      post: '/v1/leads/import',
      file: lines('id,name,email', 'L-1,Won,won@example.com'),
    })
    const file = lines(
      'lead_id,property_id,value,currency,status,created_at,closed_at,agent_id',
      `L-1,HOME,1000,EUR,closed,2026-01-01,2026-02-01,${ownerEmail}`,
      'L-1,HOME,500,EUR,open,2026-01-01,,',
      'L-9,HOME,1,EUR,open,,,',
      'L-1,,1,EUR,open,,,',
    )
    const done = await importFile(harness, { post: '/v1/deals/import', file })
    expect(done).toMatchObject({ created: 1, failed: 3 })
    const { data } = await scenario({ get: '/v1/deals', status: 200 })
    expect(data).toMatchObject([{ value: 1000, status: 'closed', closed_at: '2026-02-01T00:00:00.000Z' }])
  })
})

describe('exports of people and deals', () => {
  it.each(['leads', 'agents', 'teams', 'deals'])('hold all %s', async (plural) => {
    const list = await scenario({ get: `/v1/${plural}?per_page=100`, status: 200 })
    const { data } = await scenario({ get: `/v1/${plural}/export?format=json`, status: 200 })
    expect(data).toEqual(list.data)
    expect(data.length).toBeGreaterThan(0)
  })

  it('tell the past of leads when asked', async () => {
    await scenario({ get: '/v1/leads/export', status: 200 })
    await scenario({ get: '/v1/agents/export', status: 200 })
    await scenario({ get: '/v1/teams/export', status: 200 })
    await scenario({ get: '/v1/deals/export', status: 200 })
    const { data } = await scenario({ get: '/v1/leads/export?format=json&include_history=true', status: 200 })
    const won = data.find(({ email }: { email: string }) => email === 'e@example.com')
    expect(won.stage_history).toEqual(['new@2026-01-01T00:00:00.000Z', 'won@2026-01-03T00:00:00.000Z'])
  })
})
