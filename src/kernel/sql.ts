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

const deadlock = '40P01'
const tries = 3

/**
 * One transaction. Begun anew when PostgreSQL ended it because it and another waited for each other:
 * the other has gone on meanwhile, so the caller need not hear of it.
 */
export async function begin<T>(pool: Pool, work: (sql: Transaction) => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return (await pool.begin(work)) as T
    } catch (error) {
      if ((error as { code?: string }).code !== deadlock || tried === tries) throw error
    }
  }
}

/** Where a part of a statement is left out. */
export const nothing = (sql: Sql): Fragment => raw(sql, '')
