import { hash } from 'node:crypto'
import { ApiError } from '../../kernel/errors.ts'
import type { Sql } from '../../kernel/sql.ts'

/*
 * Slows guessing down. An attempt is counted before it is judged, in one statement, so that fifty at
 * once are fifty attempts and not one; a success takes its own attempt back.
 */

interface Patience {
  /** Attempts without a wait: people mistype. */
  free: number
  /** The first wait; each further attempt doubles it. */
  waitSeconds: number
  longestSeconds: number
}

const patience = {
  account: { free: 5, waitSeconds: 15, longestSeconds: 900 },
  // An office shares one address.
  address: { free: 30, waitSeconds: 15, longestSeconds: 900 },
  mail: { free: 3, waitSeconds: 300, longestSeconds: 3_600 },
} satisfies Record<string, Patience>

type Kind = keyof typeof patience

export interface Guess {
  kind: Kind
  who: string
}

/** After this long without an attempt everything is forgotten. */
export const forgottenAfterMs = 3_600_000

// Hashed: what people type into the e-mail field is often their password.
const subjectOf = ({ kind, who }: Guess) => `${kind} ${hash('sha256', who.toLowerCase())}`

/** Counts an attempt, or refuses it with 429 while an earlier one is still being waited for. */
export async function countAttempt(sql: Sql, guess: Guess, now: Date): Promise<void> {
  const { free, waitSeconds, longestSeconds } = patience[guess.kind]
  const subject = subjectOf(guess)
  const stale = new Date(now.getTime() - forgottenAfterMs)
  const [counted] = await sql`
    insert into sign_in_attempts as known (subject, attempts, last_at) values (${subject}, 1, ${now})
    on conflict (subject) do update set
      attempts = case when known.last_at < ${stale} then 1 else known.attempts + 1 end,
      last_at = ${now},
      blocked_until = case
        when known.last_at < ${stale} or known.attempts + 1 < ${free} then null
        else ${now}::timestamptz + least(${longestSeconds}, ${waitSeconds} * 2 ^ least(known.attempts + 1 - ${free}, 10)) * interval '1 second'
      end
    where known.blocked_until is null or known.blocked_until <= ${now}
    returning 1`
  if (counted) return
  const [row] = await sql`select blocked_until from sign_in_attempts where subject = ${subject}`
  const until = row?.blocked_until ? new Date(row.blocked_until).getTime() : now.getTime()
  const retryAfterSeconds = Math.max(1, Math.ceil((until - now.getTime()) / 1_000))
  throw new ApiError('RATE_LIMIT_EXCEEDED', `Too many attempts. Try again in ${retryAfterSeconds} seconds.`, {
    retryAfterSeconds,
  })
}

/** The attempt was right: the account starts afresh, the address gets this one back. */
export async function forgiveAttempt(sql: Sql, guess: Guess): Promise<void> {
  if (guess.kind === 'account') await sql`delete from sign_in_attempts where subject = ${subjectOf(guess)}`
  else
    await sql`
      update sign_in_attempts set attempts = greatest(attempts - 1, 0), blocked_until = null
      where subject = ${subjectOf(guess)}`
}
