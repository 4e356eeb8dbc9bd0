import type { Secrets } from '../../kernel/context.ts'
import { newId } from '../../kernel/ids.ts'
import type { Sql } from '../../kernel/sql.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  html: string
}

/** Puts a message into the outbox, in the transaction of whatever it tells of. The worker sends it. */
export async function queueMail(
  { sql, secrets, now }: { sql: Sql; secrets: Secrets; now: Date },
  { to, subject, text, html }: Mail,
): Promise<void> {
  await sql`
    insert into mail (id, recipient, subject, sealed_body, created_at, next_attempt_at)
    values (${newId('mail', now)}, ${to}, ${subject}, ${secrets.seal(JSON.stringify({ text, html }))}, ${now}, ${now})`
}

export const openMail = (secrets: Secrets, sealed: string): Pick<Mail, 'text' | 'html'> =>
  JSON.parse(secrets.open(sealed))

export interface KeptMail extends Mail {
  created_at: string
}

/** Every message there is, oldest first: how an operator without a mail server reads them. */
export async function listMail(sql: Sql, secrets: Secrets): Promise<KeptMail[]> {
  const rows = await sql`select recipient, subject, sealed_body, created_at from mail order by created_at, id`
  return rows.map((row) => ({
    to: row.recipient,
    subject: row.subject,
    ...openMail(secrets, row.sealed_body),
    created_at: row.created_at,
  }))
}
