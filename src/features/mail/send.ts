import type { Logger } from 'pino'
import type { Mailer } from '../../infra/mailer.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Secrets } from '../../kernel/context.ts'
import type { Pool } from '../../kernel/sql.ts'
import { openMail } from './outbox.ts'

interface Deps {
  sql: Pool
  clock: Clock
  log: Logger
  secrets: Secrets
  mailer: Mailer | undefined
}

const minuteMs = 60_000
const atOnce = 20
// After half a day of tries a message is stale; it stays readable for operators.
const retryMinutes = [1, 5, 15, 60, 180, 480]
// A process that dies while sending holds a message back for this long, and it may then go out twice.
const leaseMs = 2 * minuteMs

/** Sends what waits in the outbox. Several processes may do so at once: each message is claimed by one. */
export async function sendMail({ sql, clock, log, secrets, mailer }: Deps): Promise<void> {
  if (!mailer) return
  const now = clock.now()
  const claimed = await sql`
    update mail set attempts = attempts + 1, next_attempt_at = ${new Date(now.getTime() + leaseMs)}
    where id in (
      select id from mail where sent_at is null and next_attempt_at <= ${now}
      order by next_attempt_at limit ${atOnce} for update skip locked)
    returning id, recipient, subject, sealed_body, attempts`
  for (const row of claimed) {
    try {
      await mailer({ to: row.recipient, subject: row.subject, ...openMail(secrets, row.sealed_body) })
      await sql`update mail set sent_at = ${clock.now()}, next_attempt_at = null, last_error = null where id = ${row.id}`
    } catch (error) {
      const wait = retryMinutes[row.attempts - 1]
      const nextAt = wait === undefined ? null : new Date(clock.now().getTime() + wait * minuteMs)
      const reason = reasonOf(error as Error & { code?: string; responseCode?: number })
      log.warn({ mail: row.id, reason, attempt: row.attempts }, 'mail was not taken')
      await sql`update mail set next_attempt_at = ${nextAt}, last_error = ${reason} where id = ${row.id}`
    }
  }
}

// A server's own words can quote the message; its code is enough.
const reasonOf = ({ code, responseCode }: { code?: string; responseCode?: number }) =>
  [code ?? 'failed', responseCode].filter(Boolean).join(' ')

const keptDays = 30

/** Drops mail that has been read or given up long ago. */
export async function forgetOldMail({ sql, clock }: Pick<Deps, 'sql' | 'clock'>): Promise<void> {
  await sql`delete from mail where created_at < ${new Date(clock.now().getTime() - keptDays * 86_400_000)}`
}
