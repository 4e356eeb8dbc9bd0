import { request as httpRequest } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit, eventsOf } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { errorsOf, importFile, sendFile, workOff } from '../../../test/importing.ts'
import { forgetOldImports } from './expire.ts'

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

describe('cancelling an import', () => {
  it('keeps its rows out, once', async () => {
    const { data } = await sendFile(harness, { post: to, file: fileOf('Cancelled') })
    await scenario({
      post: `/v1/imports/${data.id}/cancel`,
      status: 200,
      match: { status: 'cancelled', processed: 0, finished_at: harness.clock.now().toISOString() },
    })
    await workOff(harness)
    expect(await countOf('Cancelled')).toBe(0)
    await scenario({ post: `/v1/imports/${data.id}/cancel`, status: 409 })
    expect(await harness.sql`select nr from import_chunks`).toHaveLength(0)
  })

  it('is refused when it has finished', async () => {
    const { id } = await importFile(harness, { post: to, file: fileOf('Done') })
    await scenario({ post: `/v1/imports/${id}/cancel`, status: 409, error: { code: 'CONFLICT' } })
  })
})

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
})

describe('a second try', () => {
  it('with the same Idempotency-Key makes no second import', async () => {
    const headers = { 'idempotency-key': 'once' }
    const first = await sendFile(harness, { post: to, file: fileOf('Once'), headers })
    const again = await sendFile(harness, { post: to, file: fileOf('Once'), headers })
    expect(again.data.id).toBe(first.data.id)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(await harness.sql`select id from import_files`).toEqual([{ id: first.data.id }])
    await sendFile(harness, { post: to, file: fileOf('Other'), headers, status: 422 })
    await workOff(harness)
    expect(await countOf('Once')).toBe(1)
  })
})

describe('an upload that is cut off', () => {
  it('brings nothing in and leaves nothing behind', async () => {
    await harness.server().listen({ host: '127.0.0.1', port: 0 })
    const { port } = harness.server().server.address() as { port: number }
    const filesNow = async () => (await harness.sql`select id from import_files`).length
    const before = await filesNow()
    const request = httpRequest({
      port,
      path: to,
      method: 'POST',
      headers: {
        authorization: `Bearer ${harness.tenant.adminKey}`,
        'content-type': 'text/csv',
        'content-length': '1000000',
      },
    })
    request.on('error', () => {})
    request.write(`${fileOf('Cut')}\n`)
    while ((await filesNow()) === before) await new Promise((resume) => setTimeout(resume, 10))
    request.destroy()
    while ((await filesNow()) > before) await new Promise((resume) => setTimeout(resume, 10))
    await workOff(harness)
    expect(await countOf('Cut')).toBe(0)
  })
})

describe('imports', () => {
  it('are seen by those who could make them', async () => {
    const { id } = await importFile(harness, { post: to, file: fileOf('Seen') })
    const { data } = await scenario({ get: '/v1/imports?resource=units&status=completed', status: 200 })
    expect(data[0].id).toBe(id)
    const reader = await harness.createKey(harness.tenant.production, ['read:properties'])
    expect((await scenario({ as: reader, get: '/v1/imports', status: 200 })).data).toEqual([])
    await scenario({ as: reader, get: `/v1/imports/${id}`, status: 403 })
    await scenario({ as: reader, get: `/v1/imports/${id}/errors`, status: 403 })
    const writer = await harness.createKey(harness.tenant.production, ['write:properties'])
    await scenario({ as: writer, get: `/v1/imports/${id}`, status: 200 })
    const other = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'EUR' })
    await scenario({ as: other.adminKey, get: `/v1/imports/${id}`, status: 404 })
    expect((await scenario({ as: other.adminKey, get: '/v1/imports', status: 200 })).data).toEqual([])
  })

  it('forget their rows after a month, and uploads that led to nothing after an hour', async () => {
    const done = await importFile(harness, {
      post: to,
      file: 'name,property,price\n,HOME,1\nForgotten,HOME,1\n',
    })
    const { sql, clock, tenant } = harness
    // As a process that dies in the middle of an upload leaves it.
    await sql`
      insert into import_files (workspace_id, id, created_at)
      values (${tenant.production.id}, 'imp_cut', ${clock.now()})`
    await forgetOldImports(harness)
    expect(await sql`select id from import_files`).toHaveLength(1)
    harness.clock.advance(2 * 3_600_000)
    await forgetOldImports(harness)
    expect(await harness.sql`select id from import_files`).toHaveLength(0)
    expect(await errorsOf(harness, done.id)).toHaveLength(1)
    harness.clock.advance(31 * 86_400_000)
    await forgetOldImports(harness)
    expect(await errorsOf(harness, done.id)).toHaveLength(0)
  })
})

describe('several workers', () => {
  it('share the work without doing any of it twice', async () => {
    const names = Array.from({ length: 3_000 }, (_, at) => `Shared ${at}`)
    const sent = await Promise.all(
      [1, 2, 3].map(() => sendFile(harness, { post: to, file: fileOf(...names) })),
    )
    await Promise.all([workOff(harness), workOff(harness), workOff(harness)])
    for (const { data } of sent)
      await scenario({
        get: `/v1/imports/${data.id}`,
        status: 200,
        match: { status: 'completed', created: 3_000 },
      })
    const [count] = await harness.sql`
      select count(*)::int as units, (select count(*)::int from events e where e.event = 'unit.created'
        and e.data ->> 'name' like 'Shared %') as events
      from units where name like 'Shared %'`
    expect(count).toEqual({ units: 9_000, events: 9_000 })
  })
})
