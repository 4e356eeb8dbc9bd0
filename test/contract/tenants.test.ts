import { beforeAll, describe, expect, it } from 'vitest'
import { type Harness, useHarness } from '../harness.ts'
import { fieldsOf, pathName, put, valueAt } from './bodies.ts'
import { Caller, wrongFields } from './caller.ts'
import { guarded, withBody, withPathParameter } from './operations.ts'
import { snapshot } from './snapshot.ts'

/** Every operation of the reference × the records of another workspace: as if they did not exist. */

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

const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z]+_[0-9a-z]{26}$/.test(value)
const prefixOf = (id: string) => id.slice(0, id.indexOf('_') + 1)

describe.each(withPathParameter.filter(({ isPublic }) => !isPublic))('$name', (operation) => {
  it("answers another workspace's id exactly like one that nobody has, and writes nothing", async () => {
    const theirs = await strangers.urlOf(operation)
    const unknown = theirs.replace(/_[0-9a-z]{26}/g, `_${'0'.repeat(26)}`)
    expect(theirs).not.toBe(unknown)
    await caller.urlOf(operation)
    const before = await snapshot(harness)
    const [answer, never] = [
      await caller.call(operation, { url: theirs }),
      await caller.call(operation, { url: unknown }),
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
      const answer = await caller.call(operation, { body: put(body, path, theirs) })
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
