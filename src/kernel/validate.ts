import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { Problem } from './errors.ts'
import { formHints, type JsonSchema } from './fields.ts'
import { isDate, isEmail, isHttpUrl, isText, isTimestamp, isTwoDecimals } from './formats.ts'

/*
 * Bodies are checked as they come: nothing is coerced, dropped or filled in, and every problem is
 * reported, not just the first.
 */
const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true, removeAdditional: false })

ajv.addVocabulary(['x-renamed'])
ajv.addFormat('text', isText)
ajv.addFormat('email', isEmail)
ajv.addFormat('http-url', isHttpUrl)
ajv.addFormat('date', isDate)
ajv.addFormat('date-time', isTimestamp)
ajv.addFormat('two-decimals', { type: 'number', validate: isTwoDecimals })

// A body of 1 MiB can hold half a million wrong items, and nobody reads so many: the answer stays smaller than the body.
const mostProblems = 1_000

const compiled = new WeakMap<JsonSchema, ValidateFunction>()

function validatorFor(schema: JsonSchema): ValidateFunction {
  let validator = compiled.get(schema)
  if (!validator) {
    validator = ajv.compile(schema)
    compiled.set(schema, validator)
  }
  return validator
}

/** All problems of a value; none when it is as the schema says. */
export function problemsOf(schema: JsonSchema, value: unknown): Problem[] {
  const validator = validatorFor(schema)
  if (validator(value)) return []
  // A text that breaks two rules of one field (too short and no e-mail) needs to be told once.
  const byField = new Map<string, Problem>()
  for (const error of validator.errors ?? []) {
    const problem = problemOf(error, schema)
    if (!byField.has(problem.field)) byField.set(problem.field, problem)
    if (byField.size === mostProblems) break
  }
  return [...byField.values()]
}

function problemOf(error: ErrorObject, schema: JsonSchema): Problem {
  const at = fieldPath(error.instancePath)
  if (error.keyword === 'required') {
    return { field: joined(at, error.params.missingProperty), message: 'is required.' }
  }
  if (error.keyword === 'additionalProperties') {
    const name: string = error.params.additionalProperty
    const renamed = (at === '' && (schema['x-renamed'] as Record<string, string> | undefined)) || {}
    const told = Object.hasOwn(renamed, name) ? renamed[name] : undefined
    return { field: joined(at, name), message: told ?? 'is not a known field.' }
  }
  return { field: at || 'body', message: messageOf(error) }
}

const messages: Record<string, (params: Record<string, unknown>) => string> = {
  type: ({ type }) => `must be ${[type].flat().map(typeNames).join(' or ')}.`,
  enum: ({ allowedValues }) =>
    `must be one of ${(allowedValues as unknown[]).filter((v) => v !== null).join(', ')}.`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty.' : `must have at least ${limit} characters.`),
  maxLength: ({ limit }) => `must have at most ${limit} characters.`,
  minItems: ({ limit }) => `must have at least ${limit} ${limit === 1 ? 'item' : 'items'}.`,
  maxItems: ({ limit }) => `must have at most ${limit} items.`,
  minimum: ({ limit }) => `must be at least ${limit}.`,
  maximum: ({ limit }) => `must be at most ${limit}.`,
  exclusiveMinimum: ({ limit }) => `must be more than ${limit}.`,
  uniqueItems: () => 'must not hold the same item twice.',
  minProperties: () => 'must name at least one field.',
  pattern: ({ pattern }) => patternMessage(String(pattern)),
  format: ({ format }) => formatMessages[String(format)] ?? `is not a valid ${format}.`,
}

const formatMessages: Record<string, string> = {
  text: 'must be valid text without NUL characters.',
  email: 'must be an e-mail address.',
  'http-url': 'must be an absolute http or https URL.',
  date: 'must be a date in the form YYYY-MM-DD.',
  'date-time': 'must be a timestamp such as 2026-01-31T09:30:00Z.',
  'two-decimals': 'must have at most two decimals.',
}

function patternMessage(pattern: string): string {
  if (pattern === '^[A-Z]{3}$') return 'must be a currency code of three capital letters, such as USD.'
  const prefix = /^\^\(?([a-z|]+)\)?_$/.exec(pattern)?.[1]
  if (prefix) return `must be an id that starts with ${prefix.split('|').join('_ or ')}_.`
  return formHints.get(pattern) ?? `must match ${pattern}.`
}

const messageOf = (error: ErrorObject) => messages[error.keyword]?.(error.params) ?? `${error.message}.`

const typeNames = (type: unknown) =>
  ({ array: 'a list', integer: 'a whole number', object: 'an object', null: 'null' })[String(type)] ??
  `a ${type}`

/** `/units/3/price/amount` → `units[3].price.amount` */
function fieldPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : joined(path, part)), '')
}

const joined = (path: string, name: string) => (path ? `${path}.${name}` : name)
