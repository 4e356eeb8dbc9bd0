import type { Problem } from './errors.ts'
import {
  type Create,
  type Defaults,
  type Field,
  type Fields,
  type Group,
  type Leaf,
  type Read,
  text,
  timestamp,
  type Update,
} from './fields.ts'
import type { Prefix } from './ids.ts'
import { bodySchema, exampleOf, isSettable, readSchema } from './resource-schema.ts'

/** A leaf of a resource with its place in the JSON (`price.amount`) and in the table (`price_amount`). */
export interface Column {
  readonly path: readonly string[]
  readonly name: string
  readonly leaf: Leaf
}

/** A check over several fields of the whole record, after defaults and merges. */
export type Rule<R> = (record: R) => Problem | undefined

interface Declaration<F extends Fields> {
  name: string
  plural: string
  prefix: Prefix
  table: string
  description: string
  fields: F
  /** What `sort` accepts: the public name and the dotted path of the field behind it. */
  sorts: Record<string, string>
  rules?: Rule<Read<F>>[]
  /** Fields that were renamed: what the caller reads when the old name is sent. */
  renamed?: Record<string, string>
  /** Relations that `expand` may add. */
  expands?: string[]
  /** What else an answer may hold beside the fields; sent back by a client, it is ignored. */
  alsoShown?: string[]
}

export interface Change<R> {
  after: R
  /** The old values of what changed; empty when nothing did. */
  previous: Partial<R>
  problems: Problem[]
}

export type Resource<F extends Fields = Fields> = ReturnType<typeof defineResource<F>>
export type RecordOf<R> = R extends { fields: infer F extends Fields } ? Read<F> : never
export type CreateOf<R> = R extends { fields: infer F extends Fields } ? Create<F> : never
export type UpdateOf<R> = R extends { fields: infer F extends Fields } ? Update<F> : never

export const timestamps = {
  created_at: timestamp({ readOnly: true, always: true, description: 'When the record was created.' }),
  updated_at: timestamp({ readOnly: true, always: true, description: 'When the record last changed.' }),
} as const

/** What the record is called elsewhere: unique in the workspace, for matching on import. */
export const externalId = text({
  description: 'Its id in another system of yours; no two records share one.',
})

export function defineResource<const F extends Fields>(declaration: Declaration<F>) {
  type R = Read<F>
  const { fields } = declaration
  const columns = columnsOf(fields)
  const stored = columns.filter((column) => !column.leaf.marks.derived)
  const columnByPath = new Map(columns.map((column) => [column.path.join('.'), column.name]))
  const ignoredOn = (use: 'create' | 'update') =>
    new Set([
      ...Object.keys(fields).filter((name) => !isSettable(fields[name]!, use)),
      ...(declaration.expands ?? []),
      ...(declaration.alsoShown ?? []),
    ])
  const ignored = { create: ignoredOn('create'), update: ignoredOn('update') }

  return {
    ...declaration,
    columns,
    stored,
    selectList: stored.map((column) => `${declaration.table}.${column.name}`).join(', '),
    schema: {
      read: readSchema(fields, declaration.name),
      create: bodySchema(fields, 'create', declaration.renamed),
      update: bodySchema(fields, 'update', declaration.renamed),
    },
    example: exampleOf(fields) as Record<string, unknown>,

    /** The column behind a dotted path, with the table's name before it. */
    column(path: string): string {
      const name = columnByPath.get(path)
      if (!name) throw new Error(`${declaration.name} has no field ${path}`)
      return `${declaration.table}.${name}`
    },

    /** Drops what a client may send back but can't set, so that it can PUT what it got. */
    withoutReadOnly(body: object, use: 'create' | 'update'): object {
      return Object.fromEntries(Object.entries(body).filter(([name]) => !ignored[use].has(name)))
    },

    fromRow: (row: Record<string, unknown>): R => assemble(fields, row, '') as R,

    toRow(record: R): Record<string, unknown> {
      return Object.fromEntries(stored.map(({ path, name }) => [name, valueAt(record, path)]))
    },

    /** The whole record for a create body: defaults filled in, what was left out null. */
    complete(body: Create<F>, system: Partial<R>, defaults: Defaults): { record: R; problems: Problem[] } {
      const record = { ...(fill(fields, body, defaults) as R), ...system }
      return { record, problems: broken(declaration.rules, record) }
    },

    changed,

    /** The record after a PUT body, and what that changes. */
    merge(before: R, patch: Update<F>, defaults: Defaults): Change<R> {
      const after = { ...before } as Record<string, unknown>
      const problems: Problem[] = []
      for (const [name, value] of Object.entries(patch)) {
        after[name] = merged(fields[name]!, name, after[name], value, defaults, problems)
      }
      return {
        after: after as R,
        previous: changed(before, after as R),
        problems: problems.length > 0 ? problems : broken(declaration.rules, after as R),
      }
    },
  }
}

function columnsOf(fields: Fields, parents: readonly string[] = []): Column[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...parents, name]
    return field.is === 'group'
      ? columnsOf(field.fields, path)
      : [{ path, name: path.join('_'), leaf: field }]
  })
}

const mayBeNull = (field: Field) => !field.marks.required && !field.marks.always

function assemble(fields: Fields, row: Record<string, unknown>, prefix: string): Record<string, unknown> {
  const record: Record<string, unknown> = {}
  for (const name in fields) {
    const field = fields[name]!
    if (field.is === 'leaf') record[name] = row[prefix + name]
    else record[name] = orNull(field, assemble(field.fields, row, `${prefix}${name}_`))
  }
  return record
}

/** An optional group of which nothing is set reads as null, not as an object of nulls. */
function orNull(field: Group, value: Record<string, unknown>): Record<string, unknown> | null {
  if (!mayBeNull(field)) return value
  for (const name in value) if (value[name] !== null) return value
  return null
}

/** The value at a path; null where any step of it is missing. */
export const valueAt = (record: object, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null)?.[name] ?? null, record)

/** The value that stands where nothing was sent. Defaults may depend on the workspace. */
function fallback(field: Field, defaults: Defaults): unknown {
  const { default: value } = field.marks
  if (typeof value === 'function') return value(defaults)
  return value ?? null
}

function fill(fields: Fields, body: object, defaults: Defaults): Record<string, unknown> {
  const sent = body as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, filled(field, sent[name], defaults)]),
  )
}

function filled(field: Field, value: unknown, defaults: Defaults): unknown {
  if (value === undefined || value === null) return fallback(field, defaults)
  if (field.is === 'group') return orNull(field, fill(field.fields, value, defaults))
  return normalised(field, value)
}

// The answer to a write is what was sent, the next GET what was stored: both must read the same, so what was sent
// is brought to the form that comes back. Times are in UTC with milliseconds, numbers have at most six decimals.
function normalised(field: Leaf, value: unknown): unknown {
  if (field.schema.format === 'date-time') return new Date(value as string).toISOString()
  if (field.pg === 'numeric') return Number((value as number).toFixed(6))
  return value
}

function merged(
  field: Field,
  name: string,
  old: unknown,
  value: unknown,
  defaults: Defaults,
  problems: Problem[],
): unknown {
  if (field.is === 'leaf' || value === null) return filled(field, value, defaults)
  const whole = fill(field.fields, { ...(old as object | null), ...(value as object) }, defaults)
  for (const [part, leaf] of Object.entries(field.fields)) {
    if (leaf.marks.required && whole[part] === null)
      problems.push({ field: `${name}.${part}`, message: 'is required.' })
  }
  return orNull(field, whole)
}

/** The old values of the fields that differ. */
const changed = <R>(before: R, after: R): Partial<R> =>
  Object.fromEntries(
    Object.entries(before as object).filter(([name, old]) => !same(old, after[name as keyof R])),
  ) as Partial<R>

const same = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b)

const broken = <R>(rules: Rule<R>[] | undefined, record: R): Problem[] =>
  (rules ?? []).map((rule) => rule(record)).filter((problem) => problem !== undefined)
