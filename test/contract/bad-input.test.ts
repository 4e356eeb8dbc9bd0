import { afterAll, describe, expect, it } from 'vitest'
import { type Scope, scopes } from '../../src/kernel/scopes.ts'
import { useHarness } from '../harness.ts'
import { Caller, wrongFields } from './caller.ts'
import { guarded, type Operation, operations, withBody, withPathParameter } from './operations.ts'

/** Every operation of the reference, called wrongly in every way that needs no knowledge of its fields. */

const harness = useHarness()
const caller = new Caller(harness)
const unknownKey = 'pb_live_00000000000000000000000000000000000000'
const usedKeys = [unknownKey]

afterAll(() => caller.expectLogged([...usedKeys, harness.tenant.adminKey]))

// Usage is written when its time has come: refused requests are in it as well.
async function rowCounts(): Promise<Record<string, number>> {
  const { sql } = harness
  const tables = await sql`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'usage_days' order by 1`
  const counts: Record<string, number> = {}
  for (const { name } of tables) counts[name] = (await sql`select count(*)::int as n from ${sql(name)}`)[0]!.n
  return counts
}

/** Sends the same refusal to an operation, and expects that it changed nothing. */
async function expectNoEffect(work: () => Promise<unknown>): Promise<void> {
  const before = await rowCounts()
  await work()
  expect(await rowCounts()).toEqual(before)
}

describe.each(guarded)('$name without the right credential', (operation) => {
  it('is 401 when there is none', async () => {
    await caller.urlOf(operation)
    await expectNoEffect(async () => {
      const answer = await caller.call(operation, { as: null })
      expect(answer.status, answer.text).toBe(401)
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/)
    })
  })

  it('is 401 for every kind of wrong one', async () => {
    const wrong = [
      `Bearer ${unknownKey}`,
      `Bearer ${harness.tenant.adminKey}x`,
      `Bearer ${harness.tenant.adminKey.toUpperCase()}`,
      'Bearer',
      'Bearer ',
      'Bearer a b',
      `Digest ${harness.tenant.adminKey}`,
      harness.tenant.adminKey,
      'Basic %%%',
      `Basic ${Buffer.from(`:${harness.tenant.adminKey}`).toString('base64')}`,
      `Bearer ${'x'.repeat(8_000)}`,
    ]
    for (const authorization of wrong) {
      const answer = await caller.call(operation, { as: null, headers: { authorization } })
      expect(answer.status, `${authorization.slice(0, 40)}: ${answer.text}`).toBe(401)
    }
  })

  const needed = operation.spec['x-required-scopes'] as Scope[]
  if (needed.length > 0)
    it('is 403 for a key with every other scope', async () => {
      const giving = (scope: Scope) => ['admin', scope, scope.replace('read:', 'write:')]
      const others = scopes.filter((scope) => !needed.some((need) => giving(need).includes(scope)))
      const key = await harness.createKey(harness.tenant.production, others)
      usedKeys.push(key)
      await caller.urlOf(operation)
      await expectNoEffect(async () => {
        const answer = await caller.call(operation, { as: key })
        expect(answer.status, answer.text).toBe(403)
        expect(answer.body.error.message).toContain(needed[0])
      })
    })

  it('is 403 for a workspace that the key cannot act in', async () => {
    const stranger = await harness.createTenant({ name: 'Others', plan: 'enterprise', currency: 'EUR' })
    for (const id of [stranger.production.id, harness.tenant.sandbox.id, 'ws_nope', '', "ws_' or 1=1"]) {
      const answer = await caller.call(operation, { headers: { 'x-workspace-id': id } })
      expect(answer.status, `${id}: ${answer.text}`).toBe(403)
    }
  })
})

describe.each(withPathParameter)('$name', (operation) => {
  it('is 404 for an id that nobody has', async () => {
    const real = await caller.urlOf(operation)
    const unknown = real.replace(/_[0-9a-z]{26}/g, `_${'0'.repeat(26)}`)
    const answer = await caller.call(operation, { url: unknown })
    expect(answer.status, answer.text).toBe(404)
  })
})

const byPath = [...Map.groupBy(operations, ({ path }) => path)].map(([path, known]) => ({ path, known }))

describe.each(byPath)('$path', ({ known }) => {
  it('is 405 with Allow for any other method', async () => {
    const allowed = known.map(({ method }) => method as string)
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => !allowed.includes(method))
    for (const method of others) {
      const answer = await caller.send({ method, url: await caller.urlOf(known[0]!), body: {} })
      expect(answer.status, `${method}: ${answer.text}`).toBe(405)
      const allow = answer.headers.allow!.split(', ').filter((name) => name !== 'HEAD')
      expect(allow.sort()).toEqual(allowed.sort())
    }
  })
})

const inside = (operation: Operation, value: string) =>
  `{${JSON.stringify(Object.keys(operation.body!.schema.properties!)[0])}:${value}}`
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe.each(withBody)('$name with a body that is no body', (operation) => {
  const expectStatus = async (status: number, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await caller.call(operation, { body, headers })
    expect(answer.status, `${String(body).slice(0, 60)}: ${answer.text.slice(0, 300)}`).toBe(status)
    return answer
  }

  it('is 413 when it is too large', async () => {
    await expectStatus(413, inside(operation, JSON.stringify('x'.repeat(1_048_576))))
    await expectStatus(413, Buffer.alloc(10_485_760, '['))
  })

  it('is 415 for another media type', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      'json',
      '*/*',
    ])
      await expectStatus(415, '{}', { 'content-type': type })
  })

  it('is 400 when it is not JSON', async () => {
    for (const text of ['{', '{"name":}', 'nope', '{}{}', "{'a':1}", '\u0000', '{"a":NaN}', ' ', '\ufeff{}'])
      await expectStatus(400, text)
  })

  it('is 400 when it is not UTF-8', async () => {
    const around = Buffer.from(inside(operation, '"*"'))
    const at = around.indexOf('*')
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf0, 0x9f]]) {
      const parts = [around.subarray(0, at), Buffer.from(bytes), around.subarray(at + 1)]
      await expectStatus(400, Buffer.concat(parts))
    }
  })

  it('is 422 when it is not an object', async () => {
    const empty = operation.spec.requestBody!.required ? [''] : []
    for (const text of ['[]', '"text"', '7', 'true', 'null', '[{}]', ...empty]) {
      const answer = await expectStatus(422, text)
      expect(wrongFields(answer)).toEqual(['body'])
    }
  })

  it('is 422 when it is nested a hundred thousand deep', async () => {
    await expectStatus(422, nested(100_000))
    await expectStatus(422, inside(operation, nested(100_000)))
  })

  it('is answered soon when it is wrong in very many places', async () => {
    const started = performance.now()
    const names = Array.from({ length: 80_000 }, (_, at) => `"f${at}":0`)
    await expectStatus(422, `{${names.join()}}`)
    await expectStatus(422, inside(operation, `[${'0,'.repeat(500_000)}0]`))
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})
