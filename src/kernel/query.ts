import type { Problem } from './errors.ts'
import type { JsonSchema } from './fields.ts'
import { isDate, isText, isTimestamp } from './formats.ts'

/** A query parameter: how it is documented and how its text becomes a value. */
export interface Param<T = unknown> {
  schema: JsonSchema
  description: string
  /** In characters; 500 unless given. */
  maxLength?: number
  /** The value, or a sentence that says what is wrong. */
  parse(text: string): T | WrongValue
}

export class WrongValue {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

export interface Params {
  readonly [name: string]: Param
}
export type Parsed<P extends Params> = { [K in keyof P]?: P[K] extends Param<infer T> ? T : never }

const maxParamLength = 500

export const textParam = (description: string, maxLength = maxParamLength): Param<string> => ({
  schema: { type: 'string', maxLength },
  description,
  maxLength,
  parse: (text) => text,
})

export const numberParam = (
  description: string,
  range: { min?: number; max?: number } = {},
): Param<number> => ({
  schema: {
    type: 'number',
    ...(range.min !== undefined && { minimum: range.min }),
    ...(range.max !== undefined && { maximum: range.max }),
  },
  description,
  parse: (text) =>
    /^-?\d{1,15}(\.\d{1,6})?$/.test(text) ? within(Number(text), range) : new WrongValue('must be a number.'),
})

export const integerParam = (description: string, range: { min: number; max: number }): Param<number> => ({
  schema: { type: 'integer', minimum: range.min, maximum: range.max },
  description,
  parse: (text) =>
    /^-?\d{1,15}$/.test(text) ? within(Number(text), range) : new WrongValue('must be a whole number.'),
})

export const booleanParam = (description: string): Param<boolean> => ({
  schema: { type: 'boolean' },
  description,
  parse: (text) =>
    text === 'true' || text === 'false' ? text === 'true' : new WrongValue('must be true or false.'),
})

export const oneOfParam = <const V extends readonly string[]>(
  values: V,
  description: string,
): Param<V[number]> => ({
  schema: { type: 'string', enum: values },
  description,
  parse: (text) => (values.includes(text) ? text : new WrongValue(`must be one of ${values.join(', ')}.`)),
})

/** Several values of a list, separated by commas. */
export const anyOfParam = <const V extends readonly string[]>(
  values: V,
  description: string,
): Param<V[number][]> => ({
  schema: { type: 'string', pattern: `^(${values.join('|')})(,(${values.join('|')}))*$` },
  description: `${description} Several values may be given, separated by commas: ${values.map((v) => `\`${v}\``).join(', ')}.`,
  parse: (text) => {
    const wanted = text.split(',')
    return wanted.every((value) => values.includes(value))
      ? wanted
      : new WrongValue(`must be one or more of ${values.join(', ')}, separated by commas.`)
  },
})

export const listParam = (description: string): Param<string[]> => ({
  schema: { type: 'string', maxLength: maxParamLength },
  description,
  parse: (text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
})

export const dateParam = (description: string): Param<string> => ({
  schema: { type: 'string', format: 'date' },
  description,
  parse: (text) => (isDate(text) ? text : new WrongValue('must be a date in the form YYYY-MM-DD.')),
})

/** A date or a timestamp; what counts is its day in UTC. */
export const dayParam = (description: string): Param<string> => ({
  schema: { type: 'string' },
  description,
  parse: (text) => {
    if (isDate(text)) return text
    // A plus sign in a query string stands for a space, so an offset often arrives as one.
    const stamp = text.replace(' ', '+')
    if (isTimestamp(stamp)) return new Date(stamp).toISOString().slice(0, 10)
    return new WrongValue('must be a date (YYYY-MM-DD) or a timestamp such as 2026-01-31T09:30:00Z.')
  },
})

function within(value: number, { min, max }: { min?: number; max?: number }): number | WrongValue {
  if (min !== undefined && value < min) return new WrongValue(`must be at least ${min}.`)
  if (max !== undefined && value > max) return new WrongValue(`must be at most ${max}.`)
  return value
}

/** Reads a query string by its declared parameters; everything wrong with it goes into `problems`. */
export function parseQuery<P extends Params>(
  params: P,
  query: Record<string, unknown>,
  problems: Problem[],
): Parsed<P> {
  const parsed: Record<string, unknown> = {}
  for (const [name, raw] of Object.entries(query)) {
    const value = parseOne(params, name, raw)
    if (value instanceof WrongValue) problems.push({ field: name, message: value.message })
    else parsed[name] = value
  }
  return parsed as Parsed<P>
}

function parseOne(params: Params, name: string, raw: unknown): unknown {
  if (!Object.hasOwn(params, name))
    return new WrongValue(
      `is not a parameter of this operation. Known: ${Object.keys(params).join(', ') || 'none'}.`,
    )
  if (typeof raw !== 'string') return new WrongValue('must be given once.')
  const { parse, maxLength = maxParamLength } = params[name]!
  if (raw.length > maxLength) return new WrongValue(`must have at most ${maxLength} characters.`)
  if (!isText(raw)) return new WrongValue('must be valid text without NUL characters.')
  return parse(raw)
}
