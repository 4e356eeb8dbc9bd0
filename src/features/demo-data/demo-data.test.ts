import { beforeAll, describe, expect, it } from 'vitest'
import { type Tenant, useHarness } from '../../../test/harness.ts'
import { activityTypes } from '../leads/activity-schema.ts'
import { leadSources, leadStages } from '../leads/schema.ts'
import { resetSandbox } from '../sandbox/reset.ts'
import { fillWithDemoData } from './fill.ts'

const harness = useHarness()
const { scenario } = harness
let tenants: Tenant[]

beforeAll(async () => {
  tenants = []
  for (const name of ['One', 'Two']) {
    const tenant = await harness.createTenant({ name, plan: 'enterprise', currency: 'EUR' })
    await fillWithDemoData(harness.sql, tenant.production, harness.clock.now())
    tenants.push(tenant)
  }
})

const shownTo = (tenant: Tenant) => (path: string) =>
  scenario({ as: tenant.adminKey, get: path, status: 200 })
const totalsOf = async (tenant: Tenant, path: string, names: readonly string[]) => {
  const show = shownTo(tenant)
  const totals = []
  for (const name of names) totals.push((await show(`${path}${name}`)).body.meta.total)
  return totals
}

describe('demo data', () => {
  it('has leads in every stage and from every source, and every kind of activity', async () => {
    const stages = await totalsOf(tenants[0]!, '/v1/leads?per_page=1&stage=', leadStages)
    expect(Math.min(...stages)).toBeGreaterThan(10)
    expect(stages.reduce((all, one) => all + one)).toBeGreaterThan(300)
    const sources = await totalsOf(tenants[0]!, '/v1/leads?per_page=1&source=', leadSources)
    expect(Math.min(...sources)).toBeGreaterThan(5)
    const types = await harness.sql`
      select distinct type::text from lead_activity where workspace_id = ${tenants[0]!.production.id}`
    const expected = activityTypes.filter((type) => type !== 'updated')
    expect(types.map(({ type }) => type).sort()).toEqual([...expected].sort())
  })

  it('has agents in teams who have sold something', async () => {
    const { data } = await shownTo(tenants[0]!)('/v1/agents?expand=team,leads&per_page=100')
    const sellers = data.filter((agent: { team: object | null }) => agent.team)
    expect(sellers.length).toBe(7)
    for (const agent of sellers) {
      expect(agent.stats.deals_closed, agent.name).toBeGreaterThan(0)
      expect(agent.leads.length).toBeGreaterThan(5)
    }
    const { data: stats } = await shownTo(tenants[0]!)(`/v1/agents/${sellers[0].id}/stats?period=year`)
    expect(stats.average_response_time).toMatch(/\d[dhm]/)
  })

  it('is at one with itself: every sold or reserved unit has its deal, every closed deal its invoice', async () => {
    const [odd] = await harness.sql`
      select
        (select count(*)::int from units u where u.status = 'sold' and not exists (
          select from deals d where d.unit_id = u.id and d.status = 'closed')) as sold,
        (select count(*)::int from units u where u.status = 'reserved' and not exists (
          select from deals d where d.unit_id = u.id and d.status = 'open')) as reserved,
        (select count(*)::int from deals d where (d.status = 'closed') <> exists (
          select from invoices i where i.deal_id = d.id)) as invoices,
        (select count(*)::int from deals d join leads l on l.id = d.lead_id where l.stage <> 'won') as won,
        (select count(*)::int from lead_activity where "timestamp" > ${harness.clock.now()}) as future`
    expect(odd).toEqual({ sold: 0, reserved: 0, invoices: 0, won: 0, future: 0 })
    const lead = await shownTo(tenants[0]!)('/v1/leads?stage=won&per_page=1&expand=agent,properties')
    expect(lead.data[0]).toMatchObject({ agent: { id: expect.any(String) }, properties: [{}] })
  })

  it('goes on where the numbers of invoices stopped', async () => {
    const { data: open } = await shownTo(tenants[0]!)('/v1/deals?status=open&per_page=1')
    const { body } = await shownTo(tenants[0]!)('/v1/invoices?per_page=1')
    await scenario({ as: tenants[0]!.adminKey, post: `/v1/deals/${open[0].id}/close`, status: 200 })
    const { data } = await shownTo(tenants[0]!)(`/v1/invoices?deal_id=${open[0].id}`)
    expect(data[0].number).toBe(`INV-${String(body.meta.total + 1).padStart(6, '0')}`)
  })

  it('is the same every time but for ids', async () => {
    const names = async (tenant: Tenant) =>
      (
        await shownTo(tenant)('/v1/leads?per_page=100&sort=created_at&order=asc&fields=name,score,tags')
      ).data.map(({ id: _, ...lead }: { id: string }) => lead)
    expect(await names(tenants[0]!)).toEqual(await names(tenants[1]!))
  })

  it('comes back to a sandbox at every reset, with the same people', async () => {
    const { sandbox } = tenants[1]!
    const people = async () =>
      (await harness.sql`select id from agents where workspace_id = ${sandbox.id} order by id`).map(
        ({ id }) => id,
      )
    const reset = () =>
      harness.sql.begin((tx) => resetSandbox(tx, sandbox, { demoData: true, now: harness.clock.now() }))
    await reset()
    const first = await people()
    await reset()
    expect(await people()).toEqual(first)
    expect(first.length).toBe(8)
  })
})
