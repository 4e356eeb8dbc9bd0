import type { Clock } from '../kernel/clock.ts'
import type { Pool } from '../kernel/sql.ts'

export const keptDays = 30
// Small batches with a breath between them: no long locks, and what is being delivered goes first.
const batch = 1_000
const breathMs = 50

/** Drops deliveries and events whose time is over. Deliveries go first: they need their event to be sent. */
export async function forgetOldEvents({ sql, clock }: { sql: Pool; clock: Clock }): Promise<void> {
  const before = new Date(clock.now().getTime() - keptDays * 86_400_000)
  await inBatches(
    () => sql`
      delete from deliveries where (workspace_id, id) in (
        select workspace_id, id from deliveries where created_at < ${before}
        limit ${batch} for update skip locked)`,
  )
  await inBatches(
    () => sql`
      delete from events where (workspace_id, id) in (
        select workspace_id, id from events where created_at < ${before} and sequence is not null
        limit ${batch} for update skip locked)`,
  )
}

async function inBatches(remove: () => PromiseLike<{ count: number }>): Promise<void> {
  for (;;) {
    const { count } = await remove()
    if (count < batch) return
    await new Promise((resume) => setTimeout(resume, breathMs))
  }
}
