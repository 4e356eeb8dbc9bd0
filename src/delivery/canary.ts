import type { Clock } from '../kernel/clock.ts'
import type { Pool } from '../kernel/sql.ts'
import type { DeliveryMetrics, Depth } from './metrics.ts'

/** Deliveries count as stuck when something has waited this long and nothing was done for as long. */
const patienceMs = 60_000

/** Watches from outside whether what waits gets done, whatever the reason when it does not. */
export class Canary {
  #movedAt = performance.now()
  #waiting = false

  /** Something of what it watches was done. */
  moved(): void {
    this.#movedAt = performance.now()
  }

  sees(oldestSeconds: number): void {
    this.#waiting = oldestSeconds * 1_000 > patienceMs
    if (!this.#waiting) this.moved()
  }

  isSinging(): boolean {
    return !this.#waiting || performance.now() - this.#movedAt < patienceMs
  }
}

// Counting a long queue is not worth its cost: beyond this it is "many".
const countedUpTo = 10_000

export async function measureDepth({ sql, clock }: { sql: Pool; clock: Clock }): Promise<Depth> {
  const now = clock.now()
  const [row] = await sql`
    select
      (select count(*)::int from (select from events where sequence is null limit ${countedUpTo}) e) as events,
      (select count(*)::int from (select from deliveries where due_at <= ${now} limit ${countedUpTo}) d) as due,
      (select count(*)::int from (select from deliveries where due_at > ${now} limit ${countedUpTo}) d) as later,
      (select min(created_at) from events where sequence is null) as oldest_event,
      (select min(due_at) from (select due_at from deliveries where due_at <= ${now} limit ${countedUpTo}) d) as oldest_due`
  const { events, due, later, oldest_event, oldest_due } = row!
  const waited = (at: string | null) =>
    at === null ? 0 : Math.max(0, (now.getTime() - Date.parse(at)) / 1_000)
  return {
    events,
    due,
    later,
    oldestEventSeconds: waited(oldest_event),
    oldestDueSeconds: waited(oldest_due),
  }
}

/** One for each half of the way, or the one that goes on would cover for the other. */
export interface Canaries {
  fanOut: Canary
  attempts: Canary
}

export async function watch(
  deps: { sql: Pool; clock: Clock },
  metrics: DeliveryMetrics,
  canaries: Canaries,
): Promise<void> {
  const depth = await measureDepth(deps)
  metrics.depth(depth)
  canaries.fanOut.sees(depth.oldestEventSeconds)
  canaries.attempts.sees(depth.oldestDueSeconds)
}
