import { beforeAll, describe, expect, it } from 'vitest'
import { type Harness, useHarness } from '../harness.ts'
import { fieldsOf, pathName, put, valueAt } from './bodies.ts'
import { Caller, wrongFields } from './caller.ts'
import { guarded, type Operation, withBody, withPathParameter } from './operations.ts'
import { snapshot } from './snapshot.ts'

/*
 * Every operation of the reference × the records of another workspace: as if they did not exist. The key is
 * given with each call that must write nothing, or the caller would first make a new record for it.
 */

const harness = useHarness()
const caller = new Caller(harness)
let strangers: Caller
let strangerWorkspace: string

beforeAll(async () => {
  const other = await harness.createTenant({ name: 'Strangers', plan: 'enterprise', currency: 'EUR' })
  strangerWorkspace = other.production.id
  // The same server and database, seen by somebody else.
  strangers = new Caller(Object.create(harness, { tenant: { value: other } }) as Harness)
})

/** Records that come about by themselves or by an action, not by a create of their own. */
const otherwiseMade: Record<string, () => Promise<string>> = {
  '/v1/events': () => firstOf('events'),
  '/v1/deals': async () => {
    const [lead, property] = [await strangers.idLike('lead_'), await strangers.idLike('prop_')]
    const body = { property_id: property, deal_value: 1000 }
    await strangers.send({ method: 'POST', url: `/v1/leads/${lead}/won`, body })
    return firstOf('deals')
  },
  '/v1/imports': async () => {
    const headers = { 'content-type': 'text/csv' }
    const body = 'name,email\nAnna,anna@example.com\n'
    await strangers.send({ method: 'POST', url: '/v1/leads/import', headers, body })
    return firstOf('imports')
  },
}

async function firstOf(table: string): Promise<string> {
  const { sql } = harness
  const [row] = await sql`select id from ${sql(table)} where workspace_id = ${strangerWorkspace} limit 1`
  return row!.id
}

async function strangersUrl(operation: Operation): Promise<string> {
  const url = await strangers.urlOf(operation)
  const make = otherwiseMade[operation.path.slice(0, operation.path.indexOf('/{'))]
  return make ? url.replace(/unknown_0/, await make()) : url
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z]+_[0-9a-z]{26}$/.test(value)
const prefixOf = (id: string) => id.slice(0, id.indexOf('_') + 1)

describe.each(withPathParameter.filter(({ isPublic }) => !isPublic))('$name', (operation) => {
  it("answers another workspace's id exactly like one that nobody has, and writes nothing", async () => {
    const theirs = await strangersUrl(operation)
    const unknown = theirs.replace(/_[0-9a-z]{26}/g, `_${'0'.repeat(26)}`)
    expect(theirs).not.toBe(unknown)
    await caller.urlOf(operation)
    const before = await snapshot(harness)
    const [answer, never] = [
      await caller.call(operation, { as: harness.tenant.adminKey, url: theirs }),
      await caller.call(operation, { as: harness.tenant.adminKey, url: unknown }),
    ]
    expect(answer.status, answer.text).toBe(404)
    expect(answer.text).toBe(never.text)
    expect(shape(answer.headers)).toEqual(shape(never.headers))
    expect(await snapshot(harness)).toEqual(before)
  })
})

// What every request adds or counts is not part of the comparison.
const shape = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(date|x-request-id|.*ratelimit.*)$/i.test(name)),
  )

describe.each(withBody.filter(({ isPublic }) => !isPublic))('$name', (operation) => {
  it("names a field that refers to another workspace's record, and writes nothing", async () => {
    const body = await caller.exampleOf(operation)
    const references = fieldsOf(operation.body!.schema).filter(({ path }) => isId(valueAt(body, path)))
    for (const { path } of references) {
      const theirs = await strangers.idLike(prefixOf(valueAt(body, path) as string))
      if (!theirs) continue
      const before = await snapshot(harness)
      const answer = await caller.call(operation, {
        as: harness.tenant.adminKey,
        body: put(body, path, theirs),
      })
      expect(answer.status, `${pathName(path)}: ${answer.text}`).toBe(422)
      expect(wrongFields(answer).join()).toContain(pathName(path).replace(/\[0\]$/, ''))
      expect(await snapshot(harness)).toEqual(before)
    }
  })
})

describe.each(withBody)('$name', (operation) => {
  it('cannot be told which workspace to write to', async () => {
    const body = (await caller.exampleOf(operation)) as object
    for (const name of ['workspace_id', 'workspace', 'account_id', 'token_hash', 'version', 'is_admin']) {
      const answer = await caller.call(operation, { body: { ...body, [name]: strangerWorkspace } })
      expect(answer.status, `${name}: ${answer.text}`).toBe(422)
      expect(wrongFields(answer)).toContain(name)
    }
  })

  it('cannot be told the id or the times of what it makes', async () => {
    const body = (await caller.exampleOf(operation)) as object
    for (const sent of [
      { id: 'lead_01k9x2s5v7x9z1b3d5f7h9k2n4' },
      { created_at: '2001-01-01T00:00:00.000Z' },
      { updated_at: '2001-01-01T00:00:00.000Z' },
    ]) {
      const [[name, value]] = Object.entries(sent) as [[string, string]]
      const answer = await caller.call(operation, { body: { ...body, ...sent } })
      if (answer.status >= 400) continue
      expect(answer.body?.data?.[name], name).not.toBe(value)
    }
  })
})

describe.each(guarded.filter(({ method, hasPathParameter }) => method === 'GET' && !hasPathParameter))(
  '$name',
  (operation) => {
    it('shows nothing of another workspace', async () => {
      await strangers.urlOf(operation)
      const answer = await caller.call(operation)
      if (answer.status !== 200) return
      const theirs = await strangers.call(operation)
      const ids = (text: string) => new Set(text.match(/"id":"[a-z]+_[0-9a-z]{26}"/g) ?? [])
      expect([...ids(answer.text)].filter((id) => ids(theirs.text).has(id))).toEqual([])
    })
  },
)
