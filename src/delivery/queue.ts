import { randomUUID } from 'node:crypto'
import type { Attempt, PayloadFormat } from '../kernel/courier.ts'
import type { Pool, Sql } from '../kernel/sql.ts'

/** The deliveries table as a queue. It works across workspaces: the worker serves all of them. */

/** A delivery that this process alone may try, until its lease ends. */
export interface Claimed {
  workspace_id: string
  id: string
  webhook_id: string
  claim: string
  status: 'failed' | null
  step: number
  resume_at: string | null
  host: string
  url: string
  format: PayloadFormat
  active: boolean
  sealed_secret: string
  sealed_previous_secret: string | null
  event_id: string
  event: string
  /** Null when the event is no longer kept. */
  event_at: string | null
  data: string | null
}

export interface ClaimRequest {
  now: Date
  /** How many this process can take. */
  most: number
  /** How many for a host that is not in `rooms`. */
  usualRoom: number
  rooms: ReadonlyMap<string, number>
  leaseMs: number
  /** Which end of the queue of each webhook to begin at. */
  newestFirst: boolean
}

/*
 * One look at every webhook with something in the queue (a "loose" scan of the index, jumping from one
 * webhook to the next), then the due ones of each, as many as its host may have: a host with a hundred
 * thousand waiting costs as much as one with ten, and none waits behind another.
 *
 * The lease is on the database's clock, which all workers share.
 */
export function claimDue(sql: Pool, request: ClaimRequest): Promise<Claimed[]> {
  const { now, most, usualRoom, rooms, leaseMs, newestFirst } = request
  return sql<Claimed[]>`
    with recursive lanes as (
      (select workspace_id, webhook_id from deliveries where due_at is not null
        order by workspace_id, webhook_id limit 1)
      union all
      select next.workspace_id, next.webhook_id from lanes cross join lateral (
        select d.workspace_id, d.webhook_id from deliveries d
        where d.due_at is not null and (d.workspace_id, d.webhook_id) > (lanes.workspace_id, lanes.webhook_id)
        order by d.workspace_id, d.webhook_id limit 1) next
    ), open_lanes as (
      select l.workspace_id, l.webhook_id, w.host, coalesce(known.room, ${usualRoom}::int) as room
      from lanes l
      join webhooks w on w.workspace_id = l.workspace_id and w.id = l.webhook_id
      left join unnest(${[...rooms.keys()]}::text[], ${[...rooms.values()]}::int[])
        as known (host, room) on known.host = w.host
      where coalesce(known.room, 1) > 0
    ), due as (
      select d.workspace_id, d.id, o.room,
        row_number() over (partition by o.host order by ${newestFirst ? sql`d.due_at desc` : sql`d.due_at`}) as place
      from open_lanes o cross join lateral (
        select workspace_id, id, due_at from deliveries
        where workspace_id = o.workspace_id and webhook_id = o.webhook_id and due_at <= ${now}
          and (leased_until is null or leased_until < clock_timestamp())
        order by ${newestFirst ? sql`due_at desc` : sql`due_at`}
        limit least(o.room, ${most}::int) for update skip locked) d
    ), chosen as (
      select workspace_id, id from due where place <= room order by place limit ${most}
    ), claimed as (
      update deliveries d
      set claim = ${randomUUID()}, leased_until = clock_timestamp() + ${leaseMs}::int * interval '1 millisecond'
      from chosen c where d.workspace_id = c.workspace_id and d.id = c.id
      returning d.workspace_id, d.id, d.webhook_id, d.claim, d.status, d.step, d.resume_at, d.event_id, d.event
    )
    select c.*, ${receiver(sql, now)}, e.created_at as event_at, e.data::text as data
    from claimed c
    join webhooks w on w.workspace_id = c.workspace_id and w.id = c.webhook_id
    left join events e on e.workspace_id = c.workspace_id and e.id = c.event_id`
}

const receiver = (sql: Pool, now: Date) => sql`w.host, w.url, w.format, w.active, w.sealed_secret,
  case when w.previous_secret_until > ${now} then w.sealed_previous_secret end as sealed_previous_secret`

/** A claim as it is now: its webhook may have been turned off, moved or deleted. Undefined when it no longer stands. */
export async function refreshed(sql: Pool, claimed: Claimed, now: Date): Promise<Claimed | undefined> {
  const [row] = await sql<Pick<Claimed, 'url'>[]>`
    select ${receiver(sql, now)} from deliveries d
    join webhooks w on w.workspace_id = d.workspace_id and w.id = d.webhook_id
    where d.workspace_id = ${claimed.workspace_id} and d.id = ${claimed.id} and d.claim = ${claimed.claim}`
  return row && { ...claimed, ...row }
}

/** What became of a claimed delivery. */
export interface Result {
  claimed: Claimed
  delivered: boolean
  /** Null when nothing was sent. */
  attempt: Attempt | null
  /** Tries before it that were part of the same attempt. */
  earlier?: Attempt[]
  error: string | null
  at: Date
  step: number
  dueAt: Date | null
  resumeAt: Date | null
}

const mostAttemptsKept = 100

/**
 * Writes many results at once, each only if the claim still stands, and says which those were. The
 * webhooks are locked first, as a delete does, and in the order of their ids: nobody waits in a circle.
 */
export async function recordResults(sql: Sql, results: readonly Result[]): Promise<Set<Result>> {
  const rows = results.map((result) => ({
    workspace_id: result.claimed.workspace_id,
    webhook_id: result.claimed.webhook_id,
    id: result.claimed.id,
    claim: result.claimed.claim,
    delivered: result.delivered,
    first: result.claimed.status === null,
    response_code: result.attempt?.response_code ?? null,
    error: result.error,
    at: result.at,
    attempts: result.attempt ? [...(result.earlier ?? []), result.attempt] : [],
    step: result.step,
    due_at: result.dueAt,
    resume_at: result.resumeAt,
  }))
  const written = await sql<{ id: string }[]>`
    with result as (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (
        workspace_id text, webhook_id text, id text, claim text, delivered boolean, first boolean, response_code int, error text,
        at timestamptz, attempts jsonb, step smallint, due_at timestamptz, resume_at timestamptz)
    ), locked as (
      select w.workspace_id, w.id, w.active from webhooks w
      where (w.workspace_id, w.id) in (select workspace_id, webhook_id from result)
      order by w.workspace_id, w.id for no key update of w
    ), recorded as (
      update deliveries d set
        status = case when r.delivered then 'delivered' else 'failed' end::delivery_status,
        response_code = r.response_code, error = r.error, "timestamp" = r.at, step = r.step,
        due_at = case when w.active then r.due_at end,
        next_retry = case when w.active then r.due_at end,
        resume_at = r.resume_at,
        attempts = case when jsonb_array_length(d.attempts) < ${mostAttemptsKept} then d.attempts
          else d.attempts - 0 end || r.attempts,
        claim = null, leased_until = null
      from result r join locked w on w.workspace_id = r.workspace_id and w.id = r.webhook_id
      where d.workspace_id = r.workspace_id and d.id = r.id and d.claim = r.claim
      returning d.workspace_id, d.id, d.webhook_id, r.delivered, r.first, r.at, r.attempts <> '[]' as sent
    ), totals as (
      select workspace_id, webhook_id, count(*) filter (where first) as total,
        count(*) filter (where delivered) as successful,
        count(*) filter (where first and not delivered) - count(*) filter (where delivered and not first) as failed,
        max(at) filter (where sent) as last_sent
      from recorded group by workspace_id, webhook_id
    ), counted as (
      update webhooks w set
        stats_deliveries_total = stats_deliveries_total + t.total,
        stats_deliveries_successful = stats_deliveries_successful + t.successful,
        stats_deliveries_failed = stats_deliveries_failed + t.failed,
        last_triggered = greatest(w.last_triggered, t.last_sent)
      from totals t where w.workspace_id = t.workspace_id and w.id = t.webhook_id
    )
    select id from recorded`
  const ids = new Set(written.map(({ id }) => id))
  return new Set(results.filter(({ claimed }) => ids.has(claimed.id)))
}
