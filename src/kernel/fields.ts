import type { Prefix } from './ids.ts'

/*
 * The kinds of field a resource or a body can have. Each knows its JSON Schema, its TypeScript type
 * and its PostgreSQL type, so that validation, types, columns and docs follow from one declaration.
 */

export type JsonSchema = { [keyword: string]: unknown }

/** What a default may depend on: the workspace that the record goes into. */
export interface Defaults {
  currency: string
}

export interface Marks {
  readonly description?: string
  readonly example?: unknown
  /** Must be sent on create, and can't be cleared. */
  readonly required?: boolean
  /** Always has a value, though it need not be sent. */
  readonly always?: boolean
  /** Set by the service; sent back by a client, it is ignored. */
  readonly readOnly?: boolean
  /** Has a fixed value at first, whatever is sent then; changes later. */
  readonly updateOnly?: boolean
  readonly default?: unknown
  /** No column of its own: the resource's queries compute it. */
  readonly derived?: boolean
}

export interface Leaf<T = unknown, M extends Marks = Marks> {
  readonly is: 'leaf'
  readonly schema: JsonSchema
  readonly pg: string
  readonly marks: M
  /** Carries the type alone; never set. */
  readonly type?: T
}

export interface Group<F extends Fields = Fields, M extends Marks = Marks> {
  readonly is: 'group'
  readonly fields: F
  readonly marks: M
}

export type Field = Leaf | Group
export interface Fields {
  readonly [name: string]: Field
}

type Present<M> = M extends { required: true } | { always: true } | { default: NonNullable<unknown> }
  ? true
  : false
type ValueOf<X> = X extends Leaf<infer T> ? T : X extends Group<infer F> ? Read<F> : never
type OrNull<X extends Field, T> = Present<X['marks']> extends true ? T : T | null

export type Read<F extends Fields> = { [K in keyof F]: OrNull<F[K], ValueOf<F[K]>> }

type WritableKeys<F extends Fields> = {
  [K in keyof F]: F[K]['marks'] extends { readOnly: true } ? never : K
}[keyof F]
type RequiredKeys<F extends Fields> = {
  [K in WritableKeys<F>]: F[K]['marks'] extends { required: true } ? K : never
}[WritableKeys<F>]
type CreateKeys<F extends Fields> = {
  [K in WritableKeys<F>]: F[K]['marks'] extends { updateOnly: true } ? never : K
}[WritableKeys<F>]
type SentValue<X> = X extends Leaf<infer T> ? T : X extends Group<infer F> ? Create<F> : never

export type Create<F extends Fields> = { [K in RequiredKeys<F>]: SentValue<F[K]> } & {
  [K in Exclude<CreateKeys<F>, RequiredKeys<F>>]?: SentValue<F[K]> | null
}

type PatchValue<X> = X extends Leaf<infer T> ? T : X extends Group<infer F> ? Partial<Create<F>> : never
export type Update<F extends Fields> = { [K in WritableKeys<F>]?: OrNull<F[K], PatchValue<F[K]>> }

const leaf = <T, const M extends Marks>(schema: JsonSchema, pg: string, marks: M): Leaf<T, M> => ({
  is: 'leaf',
  schema,
  pg,
  marks,
})

export const maxNameLength = 200
export const maxNotesLength = 10_000
export const maxItems = 100
export const maxUrlLength = 2_048
/** Fifteen significant digits: every such amount is exact both as numeric(15,2) and as a JSON number. */
export const maxAmount = 9_999_999_999_999.99

/** What a caller reads when a text does not have its form, by the pattern. */
export const formHints = new Map<string, string>()

const moreThanSpaces = '\\S'
formHints.set(moreThanSpaces, 'must hold more than spaces.')

export const text = <const M extends Marks>(marks: M, maxLength = maxNameLength) =>
  leaf<string, M>(
    { type: 'string', format: 'text', minLength: 1, maxLength, pattern: moreThanSpaces },
    'text',
    marks,
  )

export const longText = <const M extends Marks>(marks: M) =>
  leaf<string, M>({ type: 'string', format: 'text', maxLength: maxNotesLength }, 'text', marks)

export const email = <const M extends Marks>(marks: M) =>
  leaf<string, M>({ type: 'string', format: 'email', maxLength: 254 }, 'text', marks)

export const url = <const M extends Marks>(marks: M) =>
  leaf<string, M>({ type: 'string', format: 'http-url', maxLength: maxUrlLength }, 'text', marks)

export const choice = <const V extends readonly string[], const M extends Marks>(
  values: V,
  pg: string,
  marks: M,
) => leaf<V[number], M>({ type: 'string', enum: values }, pg, marks)

export const reference = <const M extends Marks>(prefix: Prefix, marks: M) => referenceTo([prefix], marks)

/** An id of one of several kinds. */
export const referenceTo = <const M extends Marks>(kinds: readonly Prefix[], marks: M) =>
  leaf<string, M>(
    {
      type: 'string',
      format: 'text',
      minLength: 1,
      maxLength: 80,
      pattern: kinds.length === 1 ? `^${kinds[0]}_` : `^(${kinds.join('|')})_`,
    },
    'text',
    marks,
  )

/** A text of a certain form; `hint` says which, as in "must be …". */
export const textOfForm = <const M extends Marks>(pattern: string, hint: string, marks: M) => {
  formHints.set(pattern, hint)
  return leaf<string, M>({ type: 'string', pattern, maxLength: maxNameLength }, 'text', marks)
}

/** An object whose names are not known beforehand. */
export const freeObject = <const M extends Marks>(marks: M) =>
  leaf<Record<string, unknown>, M>({ type: 'object' }, 'json', marks)

export const number = <const M extends Marks>(range: { min: number; max: number }, marks: M) =>
  leaf<number, M>({ type: 'number', minimum: range.min, maximum: range.max }, 'numeric', marks)

/** A count or measure with at most two decimals, such as 2.5 bathrooms or 84.25 square metres. */
export const measure = <const M extends Marks>(max: number, marks: M) =>
  leaf<number, M>({ type: 'number', minimum: 0, maximum: max, format: 'two-decimals' }, 'numeric', marks)

export const integer = <const M extends Marks>(range: { min: number; max: number }, marks: M) =>
  leaf<number, M>({ type: 'integer', minimum: range.min, maximum: range.max }, 'integer', marks)

export const money = <const M extends Marks>(marks: M) => measure(maxAmount, marks)

export const currency = <const M extends Marks>(marks: M) =>
  leaf<string, M>({ type: 'string', pattern: '^[A-Z]{3}$' }, 'text', marks)

export const date = <const M extends Marks>(marks: M) =>
  leaf<string, M>({ type: 'string', format: 'date' }, 'date', marks)

export const timestamp = <const M extends Marks>(marks: M) =>
  leaf<string, M>({ type: 'string', format: 'date-time' }, 'timestamp with time zone', marks)

export const flag = <const M extends Marks>(marks: M) =>
  leaf<boolean, M>({ type: 'boolean' }, 'boolean', marks)

export const listOf = <T, const M extends Marks>(item: Leaf<T>, marks: M, most = maxItems) =>
  leaf<T[], M>({ type: 'array', items: item.schema, maxItems: most }, `${item.pg}[]`, marks)

export const group = <const F extends Fields, const M extends Marks>(fields: F, marks: M): Group<F, M> => ({
  is: 'group',
  fields,
  marks,
})
