import { randomBytes } from 'node:crypto'
import type { Secrets } from '../../kernel/context.ts'
import { hashToken } from '../../kernel/credentials.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Sql } from '../../kernel/sql.ts'
import { countAttempt } from '../accounts/attempts.ts'
import { findAccountByEmail, setPassword } from '../accounts/people.ts'
import { queueMail } from '../mail/outbox.ts'
import { passwordResetMail } from './mail.ts'

export const resetPath = '/account/reset-password'
const validMs = 3_600_000

interface Deps {
  sql: Sql
  secrets: Secrets
  now: Date
  authUrl: string
}

/** Mails a link to set a new password, if there is such a person. The caller can't tell whether there is. */
export async function requestPasswordReset(
  { sql, secrets, now, authUrl }: Deps,
  { email, address }: { email: string; address: string },
): Promise<void> {
  await countAttempt(sql, { kind: 'address', who: address }, now)
  const mayMail = await countAttempt(sql, { kind: 'mail', who: email }, now).then(
    () => true,
    (error) => {
      // Somebody else's impatience must not be told, and must not fill a mailbox.
      if (error instanceof ApiError) return false
      throw error
    },
  )
  const account = await findAccountByEmail(sql, email)
  if (!account || !mayMail) return
  const token = randomBytes(32).toString('base64url')
  await sql`
    insert into password_resets (token_hash, account_id, created_at, expires_at)
    values (${hashToken(token)}, ${account.id}, ${now}, ${new Date(now.getTime() + validMs)})`
  const link = `${authUrl}${resetPath}?token=${token}`
  await queueMail({ sql, secrets, now }, passwordResetMail(account, link))
}

/** Takes the link's token, once. False for one that is unknown, used or too old. */
export async function confirmPasswordReset(
  { sql, now }: Pick<Deps, 'sql' | 'now'>,
  { token, password }: { token: string; password: string },
): Promise<boolean> {
  const [taken] = await sql`
    delete from password_resets where token_hash = ${hashToken(token)} and expires_at > ${now} returning account_id`
  if (!taken) return false
  await setPassword(sql, taken.account_id, password, now)
  return true
}
