import type { Clock } from '../../kernel/clock.ts'
import type { Pool } from '../../kernel/sql.ts'

// Small batches: no long locks, and a killed process leaves nothing half-done.
const batch = 1_000

/** Drops kept answers whose time is over. */
export async function forgetOldAnswers({ sql, clock }: { sql: Pool; clock: Clock }): Promise<void> {
  for (;;) {
    const gone = await sql`
      delete from idempotency_keys where (workspace_id, key) in (
        select workspace_id, key from idempotency_keys where expires_at <= ${clock.now()}
        limit ${batch} for update skip locked)`
    if (gone.count < batch) return
  }
}
