import type { Versioned } from '../../events/change.ts'
import type { Tx } from '../../kernel/context.ts'
import { listPage, type Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { raw } from '../../kernel/sql.ts'
import { Webhook } from './schema.ts'

export function listWebhooks(tx: Tx, query: ListQuery): Promise<Page<Webhook>> {
  return listPage(
    tx,
    { resource: Webhook, filters: {}, select: raw(tx.sql, Webhook.selectList), fromRow: Webhook.fromRow },
    query,
  )
}

export async function findWebhook(
  { sql, workspaceId }: Tx,
  id: string,
  lock = false,
): Promise<Versioned<Webhook> | undefined> {
  const [row] = await sql`
    select ${raw(sql, Webhook.selectList)}, version from webhooks
    where workspace_id = ${workspaceId} and id = ${id} ${lock ? sql`for update` : sql``}`
  return row && { record: Webhook.fromRow(row), version: row.version }
}

export async function insertWebhook(
  { sql, workspaceId }: Tx,
  record: Webhook,
  sealedSecret: string,
): Promise<void> {
  const row = {
    workspace_id: workspaceId,
    ...Webhook.toRow(record),
    host: hostOf(record.url),
    sealed_secret: sealedSecret,
  }
  await sql`insert into webhooks ${sql(row as never)}`
}

/** Receivers are told apart by it: `http://127.1/a` and `https://127.0.0.1./b` are one. */
export const hostOf = (url: string): string => new URL(url).host.replace(/\.(?=:|$)/, '')

export async function deleteWebhook({ sql, workspaceId }: Tx, id: string): Promise<boolean> {
  const rows = await sql`delete from webhooks where workspace_id = ${workspaceId} and id = ${id} returning 1`
  return rows.length > 0
}

export interface SealedSecrets {
  sealed_secret: string
  /** Null when there is none that still holds. */
  sealed_previous_secret: string | null
}

export async function findSecrets(
  { sql, workspaceId, now }: Tx,
  id: string,
): Promise<SealedSecrets | undefined> {
  const [row] = await sql<(SealedSecrets & { previous_holds: boolean })[]>`
    select sealed_secret,
      case when previous_secret_until > ${now} then sealed_previous_secret end as sealed_previous_secret
    from webhooks where workspace_id = ${workspaceId} and id = ${id}`
  return row
}

/** Puts a new secret in place; the one before goes on signing until then. */
export async function replaceSecret(
  { sql, workspaceId, now }: Tx,
  id: string,
  sealedSecret: string,
  previousUntil: Date,
): Promise<boolean> {
  const rows = await sql`
    update webhooks set sealed_previous_secret = sealed_secret, previous_secret_until = ${previousUntil},
      sealed_secret = ${sealedSecret}, updated_at = ${now}, version = version + 1
    where workspace_id = ${workspaceId} and id = ${id} returning 1`
  return rows.length > 0
}
