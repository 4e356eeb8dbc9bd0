import type { Leaf } from './fields.ts'
import type { Listable, Order } from './list-query.ts'
import { type Fragment, raw, type Sql } from './sql.ts'
import { problemsOf } from './validate.ts'

/** Where a walk stands: the sort value and id of the last record seen. */
export interface Cursor {
  value: unknown
  id: string
}

/** The field that a sort name stands for. */
export function sortLeaf(resource: Pick<Listable, 'fields' | 'sorts'>, sort: string): Leaf {
  const path = resource.sorts[sort]!.split('.')
  let field = resource.fields[path[0]!]!
  for (const name of path.slice(1)) field = field.is === 'group' ? field.fields[name]! : field
  return field as Leaf
}

/** The sort value of a record, as a cursor keeps it. */
export const sortValue = (resource: Pick<Listable, 'sorts'>, sort: string, record: object): unknown =>
  resource.sorts[sort]!.split('.').reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | null)?.[name] ?? null,
    record,
  )

export const encodeCursor = (sort: string, order: Order, cursor: Cursor): string =>
  Buffer.from(JSON.stringify([sort, order, cursor.value, cursor.id])).toString('base64url')

/** Undefined for anything that this list, sorted this way, did not hand out. */
export function decodeCursor(
  text: string,
  resource: Listable,
  sort: string,
  order: Order,
): Cursor | undefined {
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
  if (!Array.isArray(parts) || parts.length !== 4) return undefined
  const [ofSort, ofOrder, value, id] = parts
  if (ofSort !== sort || ofOrder !== order || typeof id !== 'string' || id.includes('\0')) return undefined
  const leaf = sortLeaf(resource, sort)
  if (value === null ? !isNullable(leaf) : problemsOf(leaf.schema, value).length > 0) return undefined
  // Base64 is read leniently, so that several texts would mean the same place.
  return encodeCursor(sort, order, { value, id }) === text ? { value, id } : undefined
}

export const isNullable = (leaf: Leaf) =>
  !leaf.marks.required && !leaf.marks.always && leaf.marks.default === undefined

/** The rows that come after the cursor in `order by column, id`, nulls last. */
export function afterCursor(
  sql: Sql,
  column: string,
  id: string,
  order: Order,
  cursor: Cursor,
  nullable: boolean,
): Fragment {
  const beyond = order === 'asc' ? '>' : '<'
  const idBeyond = sql`${raw(sql, `${id} ${beyond}`)} ${cursor.id}`
  if (cursor.value === null) return sql`${raw(sql, `${column} is null`)} and ${idBeyond}`
  const value = cursor.value as string
  const notNull = sql`${raw(sql, `(${column}, ${id}) ${beyond}`)} (${value}, ${cursor.id})`
  return nullable ? sql`(${notNull} or ${raw(sql, `${column} is null`)})` : notNull
}
