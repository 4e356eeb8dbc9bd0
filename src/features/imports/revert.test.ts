import { beforeAll, describe, expect, it } from 'vitest'
import { createLead, createProperty, createUnit, eventsOf } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { importFile, sendFile, waitingForLocks, workOff } from '../../../test/importing.ts'

const harness = useHarness()
const { scenario } = harness

let propertyId: string
beforeAll(async () => {
  propertyId = (await createProperty(harness, { external_id: 'HOME' })).id
})

const to = '/v1/units/import'
const fileOf = (...names: string[]) =>
  ['name,property,price', ...names.map((name) => `${name},HOME,1`)].join('\n')
const countOf = async (name: string) =>
  (await harness.sql`select count(*)::int as n from units where name = ${name}`)[0]!.n

describe('taking an import back', () => {
  it('deletes what it made and restores what it changed', async () => {
    const unit = await createUnit(harness, propertyId, {
      external_id: 'R-1',
      name: 'Kept',
      size: { interior: 5 },
    })
    const file =
      'external_id,name,property,price,size.land\nR-1,Changed,HOME,9,7\nR-1,Again,HOME,9,8\n,Made,HOME,1,\n'
    const done = await importFile(harness, { post: `${to}?on_duplicate=update`, file })
    expect(done).toMatchObject({ created: 1, updated: 2 })
    await scenario({ post: `/v1/imports/${done.id}/revert`, status: 200, match: { status: 'reverted' } })
    const { data } = await scenario({ get: `/v1/units/${unit.id}`, status: 200 })
    expect(data).toEqual({ ...unit, updated_at: data.updated_at })
    expect(await countOf('Made')).toBe(0)
    expect((await eventsOf(harness, unit.id)).map(({ event }) => event)).toContain('unit.updated')
    await scenario({ post: `/v1/imports/${done.id}/revert`, status: 409 })
  })

  it('is refused as a whole when one record was touched since', async () => {
    const done = await importFile(harness, { post: to, file: fileOf('Touched', 'Untouched') })
    const [row] = await harness.sql`select id from units where name = 'Touched'`
    await scenario({ put: `/v1/units/${row!.id}`, body: { bedrooms: 3 }, status: 200 })
    await scenario({
      post: `/v1/imports/${done.id}/revert`,
      status: 409,
      error: { message: expect.stringContaining(row!.id) },
    })
    expect(await countOf('Untouched')).toBe(1)
  })

  it('is refused when others depend on a record, or one is gone', async () => {
    const file = 'name,type,city,country,id\nUsed,land,Faro,PT,U-1\n'
    const properties = await importFile(harness, { post: '/v1/properties/import', file })
    const units = await importFile(harness, { post: to, file: 'name,property,price\nInside,U-1,1\n' })
    await scenario({ post: `/v1/imports/${properties.id}/revert`, status: 409 })
    await scenario({ post: `/v1/imports/${units.id}/revert`, status: 200 })
    await scenario({ post: `/v1/imports/${properties.id}/revert`, status: 200 })
    const gone = await importFile(harness, { post: to, file: fileOf('Gone') })
    await harness.sql`delete from units where name = 'Gone'`
    await scenario({ post: `/v1/imports/${gone.id}/revert`, status: 409 })
  })

  it('has nothing to do for a dry run, or while it runs', async () => {
    const dry = await importFile(harness, { post: `${to}?dry_run=true`, file: fileOf('Dry') })
    await scenario({ post: `/v1/imports/${dry.id}/revert`, status: 409 })
    const { data } = await sendFile(harness, { post: to, file: fileOf('Waiting') })
    await scenario({ post: `/v1/imports/${data.id}/revert`, status: 409 })
    await workOff(harness)
  })

  it('waits for whoever is changing a record right now', async () => {
    const done = await importFile(harness, { post: to, file: fileOf('Raced') })
    const [row] = await harness.sql`select id from units where name = 'Raced'`
    let reverting: Promise<unknown> | undefined
    await harness.sql.begin(async (sql) => {
      await sql`update units set bedrooms = 3, version = version + 1 where id = ${row!.id}`
      reverting = scenario({ post: `/v1/imports/${done.id}/revert`, status: 409 })
      while ((await waitingForLocks(harness)) === 0) await new Promise((resume) => setTimeout(resume, 10))
    })
    await reverting
    expect(await countOf('Raced')).toBe(1)
  })

  it.each(['properties', 'units'])(
    'is refused when a lead is interested in one of its %s',
    async (plural) => {
      const file = plural === 'units' ? fileOf('Wanted') : 'name,type,city,country\nWanted,land,Faro,PT\n'
      const done = await importFile(harness, { post: `/v1/${plural}/import`, file })
      const [row] = await harness.sql`select id from ${harness.sql(plural)} where name = 'Wanted'`
      const lead = await createLead(harness, { interested_properties: [row!.id] })
      const refused = { status: 409, error: { message: expect.stringContaining(row!.id) } }
      await scenario({ post: `/v1/imports/${done.id}/revert`, ...refused })
      await scenario({ put: `/v1/leads/${lead.id}`, body: { interested_properties: [] }, status: 200 })
      await scenario({ post: `/v1/imports/${done.id}/revert`, status: 200 })
    },
  )
})

describe('taking back changes of leads', () => {
  const update = (file: string) => importFile(harness, { post: '/v1/leads/import?on_duplicate=update', file })
  const revert = (id: string) => scenario({ post: `/v1/imports/${id}/revert`, status: 200 })

  it('restores why they were lost, and when they were contacted', async () => {
    const lost = await createLead(harness, { external_id: 'LOST' })
    const asked = await createLead(harness, { external_id: 'ASKED', email: 'asked@example.com' })
    await scenario({ post: `/v1/leads/${lost.id}/lost`, body: { reason: 'price_too_high' }, status: 200 })
    await scenario({ post: `/v1/leads/${asked.id}/stage`, body: { stage: 'contacted' }, status: 200 })
    const contactedAt = harness.clock.now().toISOString()
    harness.clock.advance(60_000)
    const done = await update('external_id,stage\nLOST,contacted\nASKED,viewing\n')
    expect(done).toMatchObject({ updated: 2 })
    harness.clock.advance(60_000)
    await revert(done.id)
    await scenario({
      get: `/v1/leads/${lost.id}`,
      status: 200,
      match: { stage: 'lost', loss_reason: 'price_too_high', last_contacted: null },
    })
    await scenario({
      get: `/v1/leads/${asked.id}`,
      status: 200,
      match: { stage: 'contacted', last_contacted: contactedAt },
    })
  })

  it('brings the reason of a loss in, and takes it back', async () => {
    const { id } = await createLead(harness, { external_id: 'WHY', email: 'why@example.com' })
    const first = await update('external_id,stage,loss_reason\nWHY,lost,unresponsive\n')
    const reasonIs = (loss_reason: string | null) =>
      scenario({ get: `/v1/leads/${id}`, status: 200, match: { loss_reason } })
    await reasonIs('unresponsive')
    const second = await update('external_id,loss_reason\nWHY,financing_failed\n')
    expect(second).toMatchObject({ updated: 1 })
    await reasonIs('financing_failed')
    await revert(second.id)
    await reasonIs('unresponsive')
    expect(await update('external_id,stage,loss_reason\nWHY,new,unresponsive\n')).toMatchObject({
      updated: 1,
    })
    await reasonIs(null)
    expect(await update('external_id,loss_reason\nWHY,unresponsive\n')).toMatchObject({ skipped: 1 })
    await scenario({ post: `/v1/imports/${first.id}/revert`, status: 409 })
  })

  it('is refused when a deal was cancelled by one', async () => {
    const { id } = await createLead(harness, { external_id: 'WON', email: 'won@example.com' })
    const won = { property_id: propertyId, deal_value: 5 }
    await scenario({ post: `/v1/leads/${id}/won`, body: won, status: 200 })
    harness.clock.advance(1_000)
    const done = await update('external_id,stage\nWON,negotiation\n')
    await scenario({
      post: `/v1/imports/${done.id}/revert`,
      status: 409,
      error: { message: expect.stringContaining(`deal of ${id}`) },
    })
    await scenario({ get: `/v1/leads/${id}`, status: 200, match: { stage: 'negotiation' } })
  })
})
