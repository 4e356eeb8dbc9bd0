import type { Clock } from '../kernel/clock.ts'
import type { Pool, Transaction } from '../kernel/sql.ts'
import { workChannel } from './wake.ts'

/*
 * Gives committed events their number and makes a delivery of each for every webhook that wants it,
 * in one transaction: no event is sent twice or forgotten, whenever the process dies.
 *
 * Numbers are given here and not at the write, under one lock for all. A write never waits for
 * another; and since the lock is held until the commit, a reader that has seen a number has seen
 * every lower one. A transaction that commits late is simply seen, and numbered, later.
 */

/** Any number will do, as long as every process takes the same one. */
const fanOutLock = 7_201_350_005
const batch = 500

/** Returns how many events it has numbered; with as many as a batch holds, there may be more. */
export async function fanOut({ sql, clock }: { sql: Pool; clock: Clock }): Promise<number> {
  return sql.begin(async (tx) => {
    const [lock] = await tx`select pg_try_advisory_xact_lock(${fanOutLock}) as held`
    // Whoever holds it was woken by the same events, or will look again soon.
    if (!lock!.held) return 0
    // A statement of its own: what it sees must not be older than the lock.
    const [done] = await numberAndQueue(tx, clock.now())
    if (done!.queued > 0) await tx`select pg_notify(${workChannel}, '')`
    return done!.numbered as number
  })
}

export const fanOutBatch = batch

// A delivery's id is made of the time in its event's id and 60 random bits, so that it sorts like the rest.
const numberAndQueue = (tx: Transaction, now: Date) => tx`
  with waiting as (
    select workspace_id, id, event, created_at,
      row_number() over (partition by workspace_id order by created_at, id) as place,
      count(*) over (partition by workspace_id) as total
    from (
      select workspace_id, id, event, created_at from events
      where sequence is null order by created_at, id limit ${batch}) oldest
  ), counted as (
    insert into event_sequences (workspace_id, last)
    select workspace_id, count(*) from waiting group by workspace_id order by workspace_id
    on conflict (workspace_id) do update set last = event_sequences.last + excluded.last
    returning workspace_id, last
  ), numbered as (
    update events e set sequence = c.last - w.total + w.place
    from waiting w join counted c using (workspace_id)
    where e.workspace_id = w.workspace_id and e.id = w.id
    returning 1
  ), queued as (
    insert into deliveries (workspace_id, id, webhook_id, event_id, event, created_at, due_at)
    select e.workspace_id, 'del_' || substr(e.id, 5, 10) || left(replace(gen_random_uuid()::text, '-', ''), 16),
      w.id, e.id, e.event, ${now}, ${now}
    from waiting e
    join webhooks w on w.workspace_id = e.workspace_id and w.active and w.events && array[e.event, '*']
    -- One that is deleted at this moment drops out, instead of failing the rest.
    for key share of w
    returning 1
  )
  select (select count(*)::int from numbered) as numbered, (select count(*)::int from queued) as queued`
