import { afterAll, describe, expect, it } from 'vitest'
import { useHarness } from '../harness.ts'
import { beyondLimits, fieldsOf, objectsOf, type Path, pathName, put, valueAt, wrongTypes } from './bodies.ts'
import { Caller, wrongFields } from './caller.ts'
import { type Operation, operations, typesOf, withBody } from './operations.ts'

/** Every field of every body in the reference, wrong in every way that its schema tells. */

const harness = useHarness()
const caller = new Caller(harness)

afterAll(() => caller.expectLogged([harness.tenant.adminKey]))

const short = (value: unknown) => JSON.stringify(value)?.slice(0, 60)

async function expectWrong(operation: Operation, path: Path, value: unknown): Promise<void> {
  const body = put(await caller.exampleOf(operation), path, value)
  const answer = await caller.call(operation, { body })
  const told = `${pathName(path)} = ${short(value)}: ${answer.text.slice(0, 300)}`
  expect(answer.status, told).toBe(422)
  // Of a list, the item may be named instead of the list.
  const named = wrongFields(answer).some(
    (field) => field === pathName(path) || field.startsWith(`${pathName(path)}[`),
  )
  expect(named, told).toBe(true)
}

describe.each(withBody)('$name', (operation) => {
  const { schema } = operation.body!
  const fields = fieldsOf(schema)
  const strings = fields.filter((field) => typesOf(field.schema).includes('string'))
  const numbers = fields.filter(({ schema: { type } }) => /number|integer/.test(String(type)))

  // An operation before there is a credential needs a secret that no example can hold.
  if (!operation.isPublic)
    it('takes its own example', async () => {
      const answer = await caller.call(operation)
      expect(answer.status, answer.text).toBe(operation.success)
    })

  it('names a field that holds a value of the wrong type', async () => {
    expect(fields.length).toBeGreaterThan(0)
    for (const field of fields) {
      const wrong = wrongTypes(field.schema)
      expect(wrong.length, `${field.name} takes everything`).toBeGreaterThan(0)
      for (const value of wrong) await expectWrong(operation, field.path, value)
    }
  })

  it('names a field that goes beyond its limits', async () => {
    const example = await caller.exampleOf(operation)
    for (const field of fields)
      for (const value of beyondLimits(field.schema, valueAt(example, field.path)))
        await expectWrong(operation, field.path, value)
  })

  it('names a text field that holds NUL or half a character', async () => {
    for (const { path } of strings)
      for (const text of ['\0', 'a\0b', '\ud800', 'x\udfffy', '\udc00\ud800'])
        await expectWrong(operation, path, text)
  })

  it('names every required field that is missing, all at once', async () => {
    for (const { path, schema } of objectsOf(operation.body!.schema)) {
      const required = schema.required ?? []
      const body = put(await caller.exampleOf(operation), path, {})
      if (required.length === 0) continue
      const answer = await caller.call(operation, { body })
      expect(answer.status, answer.text).toBe(422)
      expect(wrongFields(answer).sort()).toEqual(required.map((name) => pathName([...path, name])).sort())
    }
  })

  it('names a field that it does not know, at any depth', async () => {
    const strange = [
      'surprise',
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      '',
      '\0',
      'a.b',
      '0x',
    ]
    for (const { path } of objectsOf(schema)) {
      for (const name of strange) {
        const body = await caller.exampleOf(operation)
        // Written as text: an object literal would take `__proto__` for its prototype.
        const holder = JSON.stringify(valueAt(body, path) ?? {}).slice(1)
        const grown = `{${JSON.stringify(name)}:{"polluted":1}${holder === '}' ? '' : ','}${holder}`
        const text = JSON.stringify(put(body, path, '*')).replace('"*"', grown)
        const answer = await caller.call(operation, { body: path.length === 0 ? grown : text })
        expect(answer.status, `${pathName(path)} ${name}: ${answer.text}`).toBe(422)
        expect(wrongFields(answer)).toContain(pathName([...path, name]))
      }
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  // Of many at once each item answers for itself, which their own tests cover.
  if (operation.isBulk) return
  it('refuses an extreme number, or keeps it to six decimals', async () => {
    const extremes = [
      1e308,
      -1e308,
      -1,
      -0.01,
      1e15 + 0.001,
      0.001,
      5e-324,
      0.1 + 0.2,
      1e-7,
      33.333333333333336,
    ]
    for (const { path, name } of numbers) {
      for (const value of extremes) {
        const body = put(await caller.exampleOf(operation), path, value)
        const answer = await caller.call(operation, { body })
        const told = `${name} = ${value}: ${answer.text.slice(0, 300)}`
        if (answer.status === 422) continue
        expect(answer.status, told).toBe(operation.success)
        // An action may answer with another record than the one its numbers are kept in.
        if (operation.isAction) continue
        expect(valueAt(answer.body.data, path), told).toBe(Number(value.toFixed(6)))
        const read = await readAgain(operation, answer.body.data.id)
        expect(read, told).toEqual(answer.body.data)
      }
    }
  })
})

/** The record as its own GET shows it. */
async function readAgain(operation: Operation, id: string): Promise<unknown> {
  const collection = operation.path.replace(/\/\{\w+\}$/, '')
  const get = operations.find(({ name }) => name === `GET ${collection}/{id}`)
  if (!get) throw new Error(`${collection} has no GET for one record`)
  return (await caller.send({ method: 'GET', url: `${collection}/${id}` })).body.data
}
