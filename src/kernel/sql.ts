import type { Fragment, ISql, Sql as PostgresSql, TransactionSql } from 'postgres'

/** The pool, or one transaction of it: whoever runs statements need not know which. */
export type Sql = ISql<Record<string, never>>
export type Pool = PostgresSql<Record<string, never>>
export type Transaction = TransactionSql<Record<string, never>>
export type { Fragment }

/** `a and b and c`; true when there is nothing to ask for. */
export const allOf = (sql: Sql, conditions: Fragment[]): Fragment =>
  conditions.length === 0 ? sql`true` : conditions.reduce((all, one) => sql`${all} and ${one}`)

// A fragment costs the driver about 2 µs to make, a statement has up to ten, and ours are always the same texts.
const fragments = new Map<string, Fragment>()

/** SQL text that was written by us, not by a caller. */
export function raw(sql: Sql, text: string): Fragment {
  let fragment = fragments.get(text)
  if (!fragment) {
    fragment = sql.unsafe(text) as unknown as Fragment
    fragments.set(text, fragment)
  }
  return fragment
}

/** Where a part of a statement is left out. */
export const nothing = (sql: Sql): Fragment => raw(sql, '')
