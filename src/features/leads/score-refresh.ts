import type { Clock } from '../../kernel/clock.ts'
import type { Pool } from '../../kernel/sql.ts'
import { raw } from '../../kernel/sql.ts'
import { Lead } from './schema.ts'
import { scoreOf } from './score.ts'

const rowsAtOnce = 1_000

/**
 * Lowers the scores that time alone has lowered. Only rows that are due are read and written, found by
 * an index of their own; a lead passes here at most once for each step of its recency. Neither
 * `updated_at` nor the version moves: nobody has changed the lead.
 */
export async function refreshScores({ sql, clock }: { sql: Pool; clock: Clock }): Promise<number> {
  let refreshed = 0
  for (;;) {
    const count = await refreshSome(sql, clock.now())
    refreshed += count
    if (count < rowsAtOnce) return refreshed
  }
}

const refreshSome = (sql: Pool, now: Date): Promise<number> =>
  sql.begin(async (tx) => {
    const due = await tx`
      select ${raw(tx, Lead.selectList)}, leads.workspace_id from leads
      where score_falls_at <= ${now} order by score_falls_at limit ${rowsAtOnce}
      for no key update skip locked`
    if (due.length === 0) return 0
    const scores = due.map((row) => scoreOf(Lead.fromRow(row), now))
    await tx`
      update leads set score = s.score, score_falls_at = s.falls_at
      from unnest(
        ${due.map((row) => row.workspace_id as string)}::text[], ${due.map((row) => row.id as string)}::text[],
        ${scores.map(({ score }) => score)}::int[], ${scores.map(({ fallsAt }) => fallsAt)}::timestamptz[]
      ) as s (workspace_id, id, score, falls_at)
      where leads.workspace_id = s.workspace_id and leads.id = s.id`
    return due.length
  }) as Promise<number>
