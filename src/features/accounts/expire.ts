import type { Clock } from '../../kernel/clock.ts'
import { type Pool, raw } from '../../kernel/sql.ts'
import { forgottenAfterMs } from './attempts.ts'

// Small batches: no long locks, and a killed process leaves nothing half-done.
const batch = 1_000

/** Drops sign-ins, links and tokens whose time is over. */
export async function forgetExpiredSignIns({ sql, clock }: { sql: Pool; clock: Clock }): Promise<void> {
  const now = clock.now()
  const forgotten = new Date(now.getTime() - forgottenAfterMs)
  await drop(sql, 'sessions', 'expires_at', now)
  await drop(sql, 'password_resets', 'expires_at', now)
  await drop(sql, 'oauth_records', 'expires_at', now)
  await drop(sql, 'sign_in_attempts', 'coalesce(blocked_until, last_at)', forgotten)
}

async function drop(sql: Pool, table: string, column: string, until: Date): Promise<void> {
  for (;;) {
    const gone = await sql`
      delete from ${raw(sql, table)} where ctid in (
        select ctid from ${raw(sql, table)} where ${raw(sql, column)} <= ${until} limit ${batch} for update skip locked)`
    if (gone.count < batch) return
  }
}
