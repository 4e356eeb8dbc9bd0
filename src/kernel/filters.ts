import { anyOfParam, dayParam, listParam, numberParam, type Param, textParam } from './query.ts'
import { type Fragment, raw, type Sql } from './sql.ts'

/** A filter of a list: a query parameter and the condition it puts on the rows. `column` is our own text. */
export interface Filter<T = unknown> {
  param: Param<T>
  /** Most conditions need no workspace: the list adds it to all of them. One with a query of its own does. */
  where(sql: Sql, value: T, workspaceId: string): Fragment
  /** Its index finds the rows, but not in the order of any list: see listPage. */
  gathers?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: filters of different value types stand in one table
export type Filters = Record<string, Filter<any>>

const compare =
  (column: string, operator: '=' | '>=' | '<=') =>
  (sql: Sql, value: string | number): Fragment =>
    sql`${raw(sql, `${column} ${operator}`)} ${value}`

export const equalsText = (column: string, description: string): Filter<string> => ({
  param: textParam(description),
  where: compare(column, '='),
})

export const equalsNumber = (column: string, description: string): Filter<number> => ({
  param: numberParam(description, { min: 0 }),
  where: compare(column, '='),
})

export const atLeast = (column: string, description: string): Filter<number> => ({
  param: numberParam(description, { min: 0 }),
  where: compare(column, '>='),
})

export const atMost = (column: string, description: string): Filter<number> => ({
  param: numberParam(description, { min: 0 }),
  where: compare(column, '<='),
})

// One value compares with "=", so that an index on (column, created_at) still gives the rows in order.
export const anyOf = <const V extends readonly string[]>(
  column: string,
  pgType: string,
  values: V,
  description: string,
): Filter<V[number][]> => ({
  param: anyOfParam(values, description),
  where: (sql, wanted) =>
    wanted.length === 1
      ? sql`${raw(sql, `${column} =`)} ${wanted[0]!}`
      : sql`${raw(sql, `${column} =`)} any(${wanted}::text[]::${raw(sql, pgType)}[])`,
})

export const hasAny = (column: string, description: string): Filter<string[]> => ({
  gathers: true,
  param: listParam(description),
  where: (sql, wanted) => sql`${raw(sql, `${column} &&`)} ${wanted}::text[]`,
})

export const sameText = (columns: string[], description: string): Filter<string> => ({
  param: textParam(description),
  where: (sql, value) =>
    columns
      .map((column) => sql`lower(${raw(sql, column)}) = lower(${value})`)
      .reduce((any, one) => sql`(${any} or ${one})`),
})

/** A case-insensitive part of any of the columns; `%` and `_` stand for themselves. */
export const contains = (columns: string[], description: string): Filter<string> => ({
  param: textParam(description),
  where: (sql, value) => {
    const pattern = `%${escapedPattern(value)}%`
    return columns
      .map((column) => sql`${raw(sql, column)} ilike ${pattern}`)
      .reduce((any, one) => sql`(${any} or ${one})`)
  },
})

/** The same of one column that holds lower-case text, with a trigram index. */
export const containsLower = (column: string, description: string): Filter<string> => ({
  gathers: true,
  param: textParam(description),
  where: (sql, value) => sql`${raw(sql, column)} like '%' || lower(${escapedPattern(value)}) || '%'`,
})

const escapedPattern = (text: string) => text.replace(/[\\%_]/g, '\\$&')

export const onOrAfterDay = (column: string, description: string): Filter<string> => ({
  param: dayParam(description),
  where: (sql, day) => sql`${raw(sql, column)} >= ${`${day}T00:00:00Z`}::timestamptz`,
})

export const onOrBeforeDay = (column: string, description: string): Filter<string> => ({
  param: dayParam(description),
  where: (sql, day) => sql`${raw(sql, column)} < ${`${day}T00:00:00Z`}::timestamptz + interval '1 day'`,
})
