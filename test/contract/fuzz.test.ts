import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { useHarness } from '../harness.ts'
import { bodyFor, queryFor } from './arbitraries.ts'
import { type Answer, Caller } from './caller.ts'
import { creates, lists, type Operation, operations, updates } from './operations.ts'

/** Random bodies and queries against the live app: never a fault, and what was taken reads back the same. */

const harness = useHarness()
const caller = new Caller(harness)
const ajv = new Ajv2020({ strict: false, validateFormats: false })
const runs = { numRuns: 200 }

const ids = new Map<string, string>()
const idLike = (prefix: string) => ids.get(prefix)
beforeAll(async () => {
  for (const prefix of ['agent_', 'prop_', 'unit_', 'lead_', 'team_']) {
    const id = await caller.idLike(prefix)
    if (id) ids.set(prefix, id)
  }
})

const singleGet = (collection: string) => operations.find(({ name }) => name === `GET ${collection}/{id}`)

// The sum turns -0, which JSON does not know, into 0.
const sixDecimals = (value: number) => Number(value.toFixed(6)) + 0

/** Everything that was sent and means something stands in the record unchanged. */
function expectKept(sent: unknown, kept: unknown, path: string): void {
  if (sent === null || sent === undefined) return
  if (typeof sent === 'number') expect(kept, path).toBe(sixDecimals(sent))
  else if (typeof sent !== 'object' || Array.isArray(sent)) expect(kept, path).toEqual(sent)
  else
    for (const [name, value] of Object.entries(sent))
      expectKept(value, (kept as Record<string, unknown> | null)?.[name], `${path}.${name}`)
}

async function expectTaken(operation: Operation, body: unknown, answer: Answer): Promise<void> {
  const { data } = answer.body
  const valid = ajv.validate(operation.body!.schema, body)
  expect(valid, `taken, but not by the reference: ${ajv.errorsText()}`).toBe(true)
  expectKept(body, data, 'data')
  const collection = operation.path.replace(/\/\{\w+\}$/, '')
  if (!singleGet(collection)) return
  const read = await caller.send({ method: 'GET', url: `${collection}/${data.id}` })
  // What is shown once, such as a key, is not there again.
  expect(data).toMatchObject(read.body.data)
}

describe.each([...creates, ...updates])('$name with random bodies', (operation) => {
  it('takes them or says what is wrong, and keeps what it took', async () => {
    let taken = 0
    const property = fc.asyncProperty(bodyFor(operation.body!.schema, idLike), async (body) => {
      const answer = await caller.call(operation, { body: JSON.stringify(body) })
      expect([operation.success, 409, 422], answer.text).toContain(answer.status)
      if (answer.status !== operation.success) return
      taken++
      await expectTaken(operation, body, answer)
    })
    await fc.assert(property, runs)
    expect(taken, 'too few were taken for this to mean much').toBeGreaterThan(runs.numRuns / 5)
  })
})

describe.each(lists)('$name with random queries', (operation) => {
  it('answers with a page or says what is wrong', async () => {
    const url = await caller.urlOf(operation)
    let pages = 0
    const property = fc.asyncProperty(queryFor(operation), async (query) => {
      const answer = await caller.send({ method: 'GET', url: `${url}?${query}` })
      expect([200, 422], answer.text).toContain(answer.status)
      if (answer.status !== 200) return
      pages++
      const { data, meta, links } = answer.body
      expect(data.length).toBeLessThanOrEqual(meta.per_page)
      expect(data.length).toBeLessThanOrEqual(meta.total)
      expect((await caller.send({ method: 'GET', url: links.first })).body.meta.total).toBe(meta.total)
    })
    await fc.assert(property, runs)
    expect(pages, 'too few were pages for this to mean much').toBeGreaterThan(runs.numRuns / 5)
  })
})
