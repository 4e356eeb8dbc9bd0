import { type Schema, typesOf } from './operations.ts'

/** Walks body schemas and makes bodies that are wrong in exactly one place. */

export type Path = readonly (string | number)[]

export interface BodyField {
  path: Path
  /** As `details` names it: `price.amount`, `features[0]`. */
  name: string
  schema: Schema
}

/** Every field of a body, nested ones and the items of lists included. */
export function fieldsOf(schema: Schema, parents: Path = []): BodyField[] {
  const named = Object.entries(schema.properties ?? {}).map(([name, part]) => [name, part] as const)
  const item = schema.items ? [[0, schema.items] as const] : []
  return [...named, ...item].flatMap(([name, part]) => {
    const path = [...parents, name]
    return [{ path, name: pathName(path), schema: part }, ...fieldsOf(part, path)]
  })
}

/** The body itself and every object inside it. */
export const objectsOf = (schema: Schema): { path: Path; schema: Schema }[] => [
  { path: [], schema },
  ...fieldsOf(schema).filter((field) => field.schema.properties),
]

export const pathName = (path: Path): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  )

/** A copy of the body with this value at this place. */
export function put(body: unknown, path: Path, value: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined) return value
  if (typeof first === 'number') return [put((body as unknown[] | undefined)?.[first], rest, value)]
  const record = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  return { ...record, [first]: put(record[first], rest, value) }
}

export const valueAt = (body: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, part) => (value as Record<string | number, unknown> | null)?.[part], body)

const samples: Record<string, unknown> = {
  string: 'seven',
  number: 7.5,
  integer: 7,
  boolean: true,
  array: [],
  object: {},
  null: null,
}

/** One value of every type that the schema does not allow, and a word that is none of its choices. */
export function wrongTypes(schema: Schema): unknown[] {
  const allowed = typesOf(schema)
  const wrong = Object.entries(samples).filter(
    ([type]) => !allowed.includes(type) && !(type === 'integer' && allowed.includes('number')),
  )
  return [...wrong.map(([, value]) => value), ...(schema.enum ? ['no such choice'] : [])]
}

/** Values of the right type just outside the limits that the schema states. */
export function beyondLimits(schema: Schema, example: unknown): unknown[] {
  const { minimum, maximum, minLength, maxLength, maxItems } = schema
  const item = Array.isArray(example) ? example[0] : 'text'
  return [
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1, maximum * 2 + 1]),
    ...(minLength ? ['x'.repeat(minLength - 1)] : []),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
    ...(maxItems === undefined ? [] : [Array.from({ length: maxItems + 1 }, () => item)]),
  ]
}
