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
