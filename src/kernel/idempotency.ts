import { hash } from 'node:crypto'
import type { Context } from './context.ts'
import type { Answer } from './endpoint.ts'
import { ApiError, conflict, invalidField } from './errors.ts'
import { begin, type Pool, type Transaction } from './sql.ts'

/*
 * A POST with an Idempotency-Key runs in a transaction of its own that also keeps the answer, so
 * that a crash at any moment leaves both or neither. A request is "in flight" while its transaction
 * holds the key's advisory lock; a killed process releases it by dying. Answers are kept sealed: that
 * of a new key or webhook holds its secret.
 */

const keyHeader = 'Idempotency-Key'
const maxKeyLength = 255
export const keptHours = 24

export interface Idempotent {
  key: string
  /** Method, path and body, so that the key can't be used for something else. */
  fingerprint: string
}

export function readIdempotencyKey(
  header: string | string[] | undefined,
  request: { method: string; url: string; rawBody: Buffer | undefined },
): Idempotent | undefined {
  if (header === undefined || request.method !== 'POST') return undefined
  if (typeof header !== 'string' || header.length === 0 || header.length > maxKeyLength) {
    throw invalidField(keyHeader, `must have 1 to ${maxKeyLength} characters.`)
  }
  const path = request.url.split('?')[0]!
  const content = Buffer.concat([
    Buffer.from(`${request.method} ${request.url}\n`),
    request.rawBody ?? Buffer.alloc(0),
  ])
  return { key: header, fingerprint: `${path} ${hash('sha256', content)}` }
}

/** Runs the work once for its key: later calls get the first answer again. */
export async function once(
  ctx: Context,
  { key, fingerprint }: Idempotent,
  work: (ctx: Context) => Promise<Answer>,
  answerTo: (error: ApiError) => Answer,
): Promise<Answer> {
  const workspaceId = ctx.principal.workspace.id
  return begin(ctx.sql as Pool, async (sql): Promise<Answer> => {
    const now = ctx.clock.now()
    const [lock] =
      await sql`select pg_try_advisory_xact_lock(hashtextextended(${`${workspaceId} ${key}`}, 0)) as held`
    if (!lock!.held) throw stillRunning()

    const [kept] = await sql`
      select fingerprint, answer from idempotency_keys
      where workspace_id = ${workspaceId} and key = ${key} and expires_at > ${now}`
    if (kept) return replay(ctx, kept as Kept, fingerprint)

    const answer = await attempt(sql, ctx, work, answerTo)
    const expiresAt = keptUntil(now)
    await sql`
      insert into idempotency_keys (workspace_id, key, fingerprint, answer, created_at, expires_at)
      values (${workspaceId}, ${key}, ${fingerprint}, ${sql.json(ctx.secrets.seal(JSON.stringify(answer)))}, ${now}, ${expiresAt})
      on conflict (workspace_id, key) do update
      set fingerprint = excluded.fingerprint, answer = excluded.answer,
          created_at = excluded.created_at, expires_at = excluded.expires_at`
    return answer
  })
}

// A refusal is an answer too and is kept; its half-done work is undone. What failed on our side is not kept.
async function attempt(
  sql: Transaction,
  ctx: Context,
  work: (ctx: Context) => Promise<Answer>,
  answerTo: (error: ApiError) => Answer,
): Promise<Answer> {
  try {
    return (await sql.savepoint((inner) => work({ ...ctx, sql: inner }))) as Answer
  } catch (error) {
    return answerToRefusal(error, answerTo)
  }
}

function answerToRefusal(error: unknown, answerTo: (error: ApiError) => Answer): Answer {
  if (error instanceof ApiError && error.status < 500 && error.status !== 429) return answerTo(error)
  throw error
}

interface Kept {
  fingerprint: string
  /** Null while the request is under way, where that is not told by a lock. */
  answer: string | null
}

function replay(ctx: Context, kept: Kept, fingerprint: string): Answer {
  if (kept.fingerprint !== fingerprint) {
    throw invalidField(keyHeader, 'was used before for another request; use a new key for a new request.')
  }
  if (kept.answer === null) throw stillRunning()
  const answer = JSON.parse(ctx.secrets.open(kept.answer)) as Answer
  return { ...answer, headers: { ...answer.headers, 'idempotent-replayed': 'true' } }
}

const stillRunning = () =>
  conflict(`A request with this ${keyHeader} is still running; try again when it has finished.`)

const keptUntil = (now: Date) => new Date(now.getTime() + keptHours * 3_600_000)

// Longer than anybody is waited for. A process that dies leaves the key taken for so long.
const takenMs = 60_000

/**
 * The same for work that waits for somebody else's server, without a connection to the database all
 * the while: the key is taken first, and the answer written when it is there.
 */
export async function onceApart(
  ctx: Context,
  { key, fingerprint }: Idempotent,
  work: (ctx: Context) => Promise<Answer>,
  answerTo: (error: ApiError) => Answer,
): Promise<Answer> {
  const { sql } = ctx
  const workspaceId = ctx.principal.workspace.id
  const now = ctx.clock.now()
  const [taken] = await sql`
    insert into idempotency_keys (workspace_id, key, fingerprint, created_at, expires_at)
    values (${workspaceId}, ${key}, ${fingerprint}, ${now}, ${new Date(now.getTime() + takenMs)})
    on conflict (workspace_id, key) do update
    set fingerprint = excluded.fingerprint, answer = null, created_at = excluded.created_at,
        expires_at = excluded.expires_at
    where idempotency_keys.expires_at <= ${now}
    returning 1`
  if (!taken) {
    const [kept] = await sql<Kept[]>`
      select fingerprint, answer from idempotency_keys where workspace_id = ${workspaceId} and key = ${key}`
    if (kept) return replay(ctx, kept, fingerprint)
    throw stillRunning()
  }
  try {
    const answer = await work(ctx).catch((error) => answerToRefusal(error, answerTo))
    await sql`
      update idempotency_keys
      set answer = ${sql.json(ctx.secrets.seal(JSON.stringify(answer)))}, expires_at = ${keptUntil(now)}
      where workspace_id = ${workspaceId} and key = ${key}`
    return answer
  } catch (error) {
    await sql`delete from idempotency_keys where workspace_id = ${workspaceId} and key = ${key} and answer is null`
    throw error
  }
}
