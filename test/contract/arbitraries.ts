import fc from 'fast-check'
import { type Operation, type Schema, typesOf } from './operations.ts'

/** Values that mostly fit a schema of the reference, and now and then do not. */

type IdLike = (prefix: string) => string | undefined

export function bodyFor(schema: Schema, idLike: IdLike): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 40, arbitrary: objectFor(schema, idLike) },
    { weight: 1, arbitrary: fc.jsonValue() },
  )
}

function valueFor(schema: Schema, idLike: IdLike): fc.Arbitrary<unknown> {
  const fitting = typesOf(schema).map((type) => ofType(type, schema, idLike))
  return fc.oneof(
    { weight: 60, arbitrary: fc.oneof(...fitting) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  )
}

function ofType(type: string, schema: Schema, idLike: IdLike): fc.Arbitrary<unknown> {
  switch (type) {
    case 'object':
      return objectFor(schema, idLike)
    case 'array':
      return fc.array(valueFor(schema.items!, idLike), { maxLength: 4 })
    case 'string':
      return textFor(schema, idLike)
    case 'integer':
    case 'number':
      return numberFor(schema)
    case 'boolean':
      return fc.boolean()
    default:
      return fc.constant(null)
  }
}

function objectFor({ properties = {}, required = [] }: Schema, idLike: IdLike): fc.Arbitrary<object> {
  const parts = Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [name, valueFor(part, idLike)]),
  )
  return fc.record<Record<string, unknown>, string>(parts, { requiredKeys: required, noNullPrototype: true })
}

/** What SQL, JSON and PostgreSQL's own list syntax might trip over. */
const awkward = [
  'NULL',
  'null',
  '{}',
  '{a,b}',
  '"',
  '\\',
  '\\"',
  "'",
  "''",
  '$1',
  '\n',
  '\u2028',
  '😀',
  '\u0300',
]
const unstorable = ['\0', '\ud800']

function textFor(schema: Schema, idLike: IdLike): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = 50, pattern, format } = schema
  if (schema.enum) return fc.constantFrom(...schema.enum.filter((value) => value !== null).map(String))
  if (format === 'date')
    return fc
      .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
      .map((day) => day.toISOString().slice(0, 10))
  if (format === 'date-time')
    return fc
      .date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
      .map((time) => time.toISOString())
  if (format === 'email') return fc.emailAddress().filter((address) => /^[\w.+-]+@/.test(address))
  if (pattern?.endsWith('$')) return fc.stringMatching(new RegExp(pattern))
  if (pattern?.includes('://'))
    return fc.oneof(
      { weight: 6, arbitrary: fc.webUrl({ validSchemes: ['https'] }) },
      { weight: 3, arbitrary: fc.webUrl({ validSchemes: ['https'] }).map((url) => `${url}/é"ü"😀`) },
      { weight: 1, arbitrary: fc.webUrl() },
    )
  const [, kinds] = /^\^\(?([a-z|]+)\)?_$/.exec(pattern ?? '') ?? []
  const id = kinds && idLike(`${kinds.split('|')[0]}_`)
  if (id)
    return fc.oneof(
      { weight: 30, arbitrary: fc.constant(id) },
      { weight: 1, arbitrary: fc.constant(`${id}0`) },
    )
  const free = fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, 40) })
  return fc.oneof(
    {
      weight: 30,
      arbitrary: free.map((text) => text.replaceAll('\0', '')).filter((text) => text.length >= minLength),
    },
    { weight: 20, arbitrary: fc.constantFrom(...awkward) },
    { weight: 1, arbitrary: fc.constantFrom(...unstorable) },
  )
}

function numberFor({ minimum: min = -1e6, maximum: max = 1e6 }: Schema): fc.Arbitrary<number> {
  const hundredths = fc
    .maxSafeInteger()
    .map((number) => min + ((Math.abs(number) % 1e15) / 1e15) * (max - min))
    .map((number) => Math.trunc(number * 100) / 100)
  return fc.oneof(
    { weight: 30, arbitrary: hundredths },
    { weight: 10, arbitrary: fc.constantFrom(min, max, 0) },
    { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  )
}

/** A query string over the parameters of an operation: some fit, some are junk. */
export function queryFor({ query }: Operation): fc.Arbitrary<string> {
  const pair = fc
    .constantFrom(...query)
    .chain(({ name, schema }) =>
      fc
        .oneof(
          { weight: 6, arbitrary: paramFor(name, schema) },
          { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
          { weight: 1, arbitrary: fc.constantFrom(...awkward) },
        )
        .map((value) => `${name}=${encodeURIComponent(value)}`),
    )
  return fc.array(pair, { maxLength: 5 }).map((pairs) => pairs.join('&'))
}

function paramFor(name: string, schema: Schema): fc.Arbitrary<string> {
  if (schema.enum) return fc.constantFrom(...schema.enum.map(String))
  if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern)).filter((text) => text.length < 200)
  if (/number|integer/.test(String(schema.type)))
    return fc.oneof(numberFor(schema), fc.integer({ min: 1, max: 20 })).map(String)
  if (name === 'fields') return fc.constantFrom('id', 'name', 'id,name,created_at', 'nope')
  if (name === 'cursor') return fc.constantFrom('', 'x', 'e30')
  return fc.string({ maxLength: 30 })
}
