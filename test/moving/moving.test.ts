import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillWithDemoData } from '../../src/features/demo-data/fill.ts'
import { refreshScores } from '../../src/features/leads/score-refresh.ts'
import { Harness } from '../harness.ts'
import { importFile } from '../importing.ts'

/** A workspace moves from one installation to another by its files alone, and every figure stays the same. */

const before = new Harness()
const after = new Harness()
const dayMs = 86_400_000

// In this order, so that what is referred to is there first.
const moved = [
  { files: 'teams', query: '' },
  { files: 'agents', query: '' },
  { files: 'properties', query: '' },
  { files: 'units', query: '' },
  { files: 'leads', query: '?include_history=true' },
  { files: 'deals', query: '' },
]

const post = async (path: string, body: object, status = 201) =>
  (await before.scenario({ post: path, body, status })).data

beforeAll(async () => {
  await Promise.all([before.start(), after.start()])
  const { sql, tenant, clock } = before
  await fillWithDemoData(sql, tenant.production, clock.now())
  await sellFor(60)
  // Scores fall with time; here they are what they are on arrival.
  await refreshScores(before)
  after.clock.advance(clock.now().getTime() - after.clock.now().getTime())
  // Whoever moves has an account on both sides, under the same address.
  const [owner] = await sql`select email, name from agents where id = ${tenant.ownerId}`
  await after.sql`update agents set ${after.sql(owner as never)} where id = ${after.tenant.ownerId}`
}, 120_000)
afterAll(() => Promise.all([before.stop(), after.stop()]))

/** A few weeks of work: leads come, move, are won and lost; deals close in several currencies. */
async function sellFor(days: number): Promise<void> {
  const team = await post('/v1/teams', { name: 'Waterfront' })
  const agents = [before.tenant.ownerId]
  for (const name of ['Sara', 'Tom']) {
    const email = `${name.toLowerCase()}@sellers.example`
    agents.push((await post('/v1/agents', { name, email, team_id: team.id, commission: { rate: 0.03 } })).id)
  }
  const { data: properties } = await before.scenario({ get: '/v1/properties', status: 200 })
  const { data: units } = await before.scenario({
    get: '/v1/units?status=available&per_page=100',
    status: 200,
  })
  const sources = ['website', 'referral', 'portal', 'social', 'walk_in', 'api', 'manual']
  const stages = ['contacted', 'qualified', 'viewing', 'negotiation']
  for (let at = 0; at < days; at++) {
    before.clock.advance(dayMs * 0.7)
    const lead = await post('/v1/leads', {
      name: `=Lead "${at}", of many`,
      email: `lead-${at}@buyers.example`,
      phone: at % 2 ? '+351 21 555' : null,
      source: sources[at % sources.length],
      assigned_agent: at % 5 === 4 ? null : agents[at % agents.length],
      interested_properties: [properties[at % properties.length].id, units[at % units.length].id],
      budget: at % 3 ? { max: 100_000.5 + at * 1_000, currency: at % 2 ? 'EUR' : 'USD' } : null,
      notes: at % 4 ? 'a|b\\c\nnext, "line"' : null,
      tags: at % 2 ? ['hot', 'a|b'] : [],
    })
    for (const stage of stages.slice(0, at % 6)) {
      before.clock.advance(dayMs * 0.31)
      await post(`/v1/leads/${lead.id}/stage`, { stage }, 200)
    }
    // Some are handed over, some are taken on late, and some are left to nobody.
    if (at % 3 === 1) {
      const assigned_agent = at % 4 === 3 ? null : agents[(at + 1) % agents.length]
      await before.scenario({ put: `/v1/leads/${lead.id}`, body: { assigned_agent }, status: 200 })
    }
    if (at % 7 === 6) await post(`/v1/leads/${lead.id}/lost`, { reason: 'price_too_high' }, 200)
    if (at % 6 === 5) {
      await post(`/v1/leads/${lead.id}/won`, { property_id: units[at].id, deal_value: 250_000 + at }, 200)
      const { data } = await before.scenario({ get: `/v1/deals?lead_id=${lead.id}`, status: 200 })
      if (at % 4 === 1) await post(`/v1/deals/${data[0].id}/close`, {}, 200)
      else if (at % 5 === 1) await post(`/v1/deals/${data[0].id}/cancel`, {}, 200)
    }
  }
}

const fileOf = async (harness: Harness, files: string, query = '') =>
  (await harness.scenario({ get: `/v1/${files}/export${query}`, status: 200 })).text

describe('moving to another installation', () => {
  it('takes every record along', async () => {
    for (const { files, query } of moved) {
      const done = await importFile(after, {
        post: `/v1/${files}/import`,
        file: await fileOf(before, files, query),
      })
      const skipped = files === 'agents' ? 1 : 0
      expect(done, files).toMatchObject({ status: 'completed', failed: 0, skipped })
      expect(done.created, files).toBeGreaterThan(0)
    }
  }, 60_000)

  it.each(['properties', 'units', 'leads', 'deals'])('leaves %s as they were', async (files) => {
    const ours = (harness: Harness, text: string) => text.replaceAll(harness.tenant.ownerId, 'the owner')
    const there = ours(before, await fileOf(before, files, files === 'leads' ? '?include_history=true' : ''))
    const here = ours(after, await fileOf(after, files, files === 'leads' ? '?include_history=true' : ''))
    expect(here).toBe(there)
  })

  const days = 'start_date=2025-01-01&end_date=2026-12-31'
  it.each([
    `overview?${days}`,
    `pipeline?${days}`,
    `sources?${days}`,
    `agents?${days}`,
    `revenue?${days}`,
    `revenue?${days}&interval=week`,
    'inventory?',
    'overview?',
    'pipeline?',
    'sources?',
    'agents?',
  ])('counts the same: %s', async (path) => {
    const figures = async (harness: Harness) =>
      (await harness.scenario({ get: `/v1/analytics/${path}`, status: 200 })).text.replaceAll(
        harness.tenant.ownerId,
        'the owner',
      )
    const there = await figures(before)
    expect(await figures(after)).toBe(there)
    expect(there).toMatch(/[1-9]/)
  })

  it.each(['sources', 'revenue', 'pipeline', 'overview', 'inventory'])(
    'counts the same by property and agent: %s',
    async (name) => {
      const { data: properties } = await before.scenario({ get: '/v1/properties', status: 200 })
      const { data: agents } = await before.scenario({ get: '/v1/agents?search=sara', status: 200 })
      const { data: others } = await before.scenario({ get: '/v1/agents?search=tom', status: 200 })
      for (const filter of [
        `property_id=${properties[0].id}`,
        `agent_id=${agents[0].id}`,
        `agent_id=${others[0].id}`,
      ]) {
        const path = `/v1/analytics/${name}?${days}&${filter}`
        const there = await before.scenario({ get: path, status: 200 })
        expect((await after.scenario({ get: path, status: 200 })).text).toBe(there.text)
      }
    },
  )
})
