import { beforeAll, describe, expect, it } from 'vitest'
import { createLead, createStock, insertAgent } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario, clock } = harness
const day = 86_400_000

const named: Record<string, string> = {}
let agent = ''
let stock: Awaited<ReturnType<typeof createStock>>

const namesFor = async (query: string, path = '/v1/leads') =>
  (await scenario({ get: `${path}?${query}`, status: 200 })).data.map((lead: { name: string }) => lead.name)

beforeAll(async () => {
  agent = await insertAgent(harness)
  stock = await createStock(harness)
  const leads = [
    { name: 'Ada', email: 'ada@one.example', phone: '+351 210 001', source: 'website', tags: ['vip', 'eu'] },
    { name: 'Bob', email: 'bob@one.example', source: 'referral', tags: ['eu'], assigned_agent: agent },
    { name: 'Cleo', email: 'cleo@two.example', interested_properties: [stock.property.id] },
    { name: 'Dora 100%', email: 'd_x@two.example', interested_properties: [stock.unit.id] },
  ]
  for (const lead of leads) {
    named[lead.name] = (await createLead(harness, lead)).id
    clock.advance(day)
  }
  const stage = (name: string, stage: string) =>
    scenario({ post: `/v1/leads/${named[name]}/stage`, body: { stage }, status: 200 })
  await stage('Bob', 'qualified')
  await stage('Cleo', 'contacted')
  clock.advance(1_000)
  await scenario({
    put: `/v1/leads/${named.Ada}`,
    body: { next_follow_up: '2026-05-01T00:00:00Z' },
    status: 200,
  })
})

describe('listing leads', () => {
  it('shows the newest first, with all four figures', async () => {
    const { body } = await scenario({ get: '/v1/leads', status: 200 })
    expect(body.data.map((lead: { name: string }) => lead.name)).toEqual(['Dora 100%', 'Cleo', 'Bob', 'Ada'])
    expect(body.meta).toEqual({ page: 1, per_page: 20, total: 4, total_pages: 1 })
  })

  it.each([
    ['stage=qualified', ['Bob']],
    ['stage=qualified,contacted', ['Cleo', 'Bob']],
    ['source=website', ['Ada']],
    ['source=website,referral', ['Bob', 'Ada']],
    ['tags=vip', ['Ada']],
    ['tags=vip,eu', ['Bob', 'Ada']],
    ['tags=eu&source=website', ['Ada']],
    ['created_after=2026-03-03', ['Dora 100%', 'Cleo']],
    ['created_before=2026-03-02', ['Bob', 'Ada']],
    ['created_after=2026-03-02T23:59:59Z&created_before=2026-03-02T00:00:00Z', ['Bob']],
    ['search=ADA', ['Ada']],
    ['search=210', ['Ada']],
    ['search=one.example', ['Bob', 'Ada']],
    ['search=o', ['Dora 100%', 'Cleo', 'Bob', 'Ada']],
    ['search=d_', ['Dora 100%']],
    ['search=0%25', ['Dora 100%']],
    ['search=%25%25', []],
    ['search=_', ['Dora 100%']],
    ['search=nobody', []],
    ['min_score=101', []],
    ['sort=name&order=desc', ['Dora 100%', 'Cleo', 'Bob', 'Ada']],
    ['sort=stage', ['Ada', 'Dora 100%', 'Cleo', 'Bob']],
    ['sort=next_follow_up&per_page=1', ['Ada']],
    ['sort=last_contacted&per_page=1', ['Cleo']],
    ['sort=updated_at&per_page=1', ['Ada']],
    ['search=o&per_page=2&page=2', ['Bob', 'Ada']],
    ['search=o&page=9', []],
  ])('%s gives %j', async (query, expected) => {
    expect(await namesFor(query)).toEqual(expected)
  })

  it('filters by agent and by what they are interested in, with the units of a property', async () => {
    expect(await namesFor(`agent_id=${agent}`)).toEqual(['Bob'])
    expect(await namesFor(`property_id=${stock.property.id}`)).toEqual(['Dora 100%', 'Cleo'])
    expect(await namesFor(`property_id=${stock.unit.id}`)).toEqual(['Dora 100%'])
    expect(await namesFor('property_id=prop_none')).toEqual([])
  })

  it('sorts by score and filters by it, as it is shown', async () => {
    const { data } = await scenario({ get: '/v1/leads?sort=score', status: 200 })
    const scores = data.map((lead: { score: number }) => lead.score)
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
    const { data: best } = await scenario({ get: `/v1/leads?min_score=${scores[1]}`, status: 200 })
    expect(best).toHaveLength(scores.filter((score: number) => score >= scores[1]).length)
  })

  it('walks by cursor, also through a search', async () => {
    const seen: string[] = []
    let next = '/v1/leads?search=o&per_page=1&cursor='
    while (next) {
      const { body } = await scenario({ get: next, status: 200 })
      seen.push(...body.data.map((lead: { name: string }) => lead.name))
      expect(body.meta.total).toBe(4)
      next = body.links.next
    }
    expect(seen).toEqual(['Dora 100%', 'Cleo', 'Bob', 'Ada'])
  })

  it('keeps to the workspace', async () => {
    const other = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'GBP' })
    await createLead(harness, { name: 'Ada of another' }, other.adminKey)
    expect(await namesFor('search=ada')).toEqual(['Ada'])
  })

  it.each([
    ['stage=dead', ['stage']],
    ['source=radio', ['source']],
    ['min_score=high', ['min_score']],
    ['created_after=yesterday', ['created_after']],
    ['sort=email', ['sort']],
    ['expand=deals', ['expand']],
    ['status=new', ['status']],
  ])('%s names %j as wrong', async (query, wrong) => {
    await scenario({ get: `/v1/leads?${query}`, status: 422, wrong })
  })
})

describe('a search that finds more than are counted with the page', () => {
  it('still shows the right page and the exact total', async () => {
    const many = await harness.createTenant({ name: 'Many', plan: 'enterprise', currency: 'GBP' })
    await harness.sql`
      insert into leads (workspace_id, id, name, email, source, score, created_at, updated_at)
      select ${many.production.id}, 'lead_many' || lpad(n::text, 5, '0'), 'Many ' || n, 'n@example.com', 'api', 0,
        timestamptz '2026-01-01Z' + n * interval '1 second', now()
      from generate_series(1, 10500) n`
    const page = async (query: string) =>
      (await scenario({ as: many.adminKey, get: `/v1/leads?search=MANY&${query}`, status: 200 })).body
    for (let round = 0; round < 2; round++) {
      const { data, meta } = await page('per_page=2')
      expect(data.map((lead: { name: string }) => lead.name)).toEqual(['Many 10500', 'Many 10499'])
      expect(meta.total).toBe(10_500)
    }
    const { data } = await page('per_page=2&page=5250')
    expect(data.map((lead: { name: string }) => lead.name)).toEqual(['Many 2', 'Many 1'])
    expect((await page('page=9999')).data).toEqual([])
  })
})
