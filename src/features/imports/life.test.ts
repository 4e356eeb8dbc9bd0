import { request as httpRequest } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { errorsOf, importFile, sendFile, waitingForLocks, workOff } from '../../../test/importing.ts'
import { forgetOldImports } from './expire.ts'

const harness = useHarness()
const { scenario } = harness

beforeAll(async () => void (await createProperty(harness, { external_id: 'HOME' })))

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

describe('an import that is cancelled while it fails', () => {
  it('stays cancelled', async () => {
    const { data } = await sendFile(harness, { post: to, file: 'no xml', type: 'application/xml' })
    let working: Promise<void> | undefined
    await harness.sql.begin(async (sql) => {
      await sql`update imports set status = 'cancelled', finished_at = created_at where id = ${data.id}`
      working = workOff(harness)
      while ((await waitingForLocks(harness)) === 0) await new Promise((resume) => setTimeout(resume, 10))
      await sql`delete from import_work where import_id = ${data.id}`
      await sql`delete from import_files where id = ${data.id}`
    })
    await working
    await scenario({ get: `/v1/imports/${data.id}`, status: 200, match: { status: 'cancelled' } })
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
    expect(await sql`select row from import_rejects`).toHaveLength(0)
    const gone = { status: 409, error: { message: expect.stringContaining('30 days') } }
    await scenario({ get: `/v1/imports/${done.id}/errors`, ...gone })
    await scenario({ post: `/v1/imports/${done.id}/revert`, ...gone })
    expect(await countOf('Forgotten')).toBe(1)
    const { id } = await importFile(harness, { post: to, file: fileOf('Flawless') })
    harness.clock.advance(31 * 86_400_000)
    expect(await errorsOf(harness, id)).toEqual([])
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
