import { randomBytes } from 'node:crypto'
import type { Tx } from '../../kernel/context.ts'
import { hashToken } from '../../kernel/credentials.ts'
import { invalid, notFound, type Problem } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { listPage, type Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { type Fragment, raw, type Sql } from '../../kernel/sql.ts'
import { OAuthClient, type OAuthClientCreate } from './schema.ts'

const selected = (sql: Sql): Fragment =>
  sql`${raw(sql, OAuthClient.selectList)}, oauth_clients.id as client_id`

export const listOAuthClients = (tx: Tx, query: ListQuery): Promise<Page<OAuthClient>> =>
  listPage(
    tx,
    { resource: OAuthClient, filters: {}, select: selected(tx.sql), fromRow: OAuthClient.fromRow },
    query,
  )

export async function getOAuthClient({ sql, workspaceId }: Tx, id: string): Promise<OAuthClient> {
  const [row] = isId('oac', id)
    ? await sql`select ${selected(sql)} from oauth_clients where workspace_id = ${workspaceId} and id = ${id}`
    : []
  if (!row) throw notFound('OAuth client')
  return OAuthClient.fromRow(row)
}

export async function createOAuthClient(
  tx: Tx,
  body: OAuthClientCreate,
): Promise<OAuthClient & { client_secret?: string }> {
  const problems = body.redirect_uris.flatMap(redirectProblem)
  if (problems.length > 0) throw invalid(problems)
  const id = tx.newId('oac')
  const isPublic = body.public ?? false
  const secret = isPublic ? undefined : `pb_oauth_${randomBytes(32).toString('base64url')}`
  const [row] = await tx.sql`
    insert into oauth_clients (workspace_id, id, name, redirect_uris, scopes, public, secret_hash, created_by, created_at)
    values (${tx.workspaceId}, ${id}, ${body.name}, ${body.redirect_uris}, ${body.scopes}, ${isPublic},
      ${secret ? hashToken(secret) : null}, ${tx.viewer.agentId}, ${tx.now})
    returning ${selected(tx.sql)}`
  return { ...OAuthClient.fromRow(row!), ...(secret && { client_secret: secret }) }
}

/** Takes everything that was allowed to it along: its tokens fail from now on. */
export async function deleteOAuthClient({ sql, workspaceId }: Tx, id: string): Promise<void> {
  const rows = isId('oac', id)
    ? await sql`delete from oauth_clients where workspace_id = ${workspaceId} and id = ${id} returning 1`
    : []
  if (rows.length === 0) throw notFound('OAuth client')
}

const loopback = ['localhost', '127.0.0.1', '[::1]']

// What is written to a browser's address bar must not be readable on the way, nor hold a second meaning.
function redirectProblem(text: string, at: number): Problem[] {
  const field = `redirect_uris[${at}]`
  const uri = new URL(text)
  if (uri.protocol === 'http:' && !loopback.includes(uri.hostname))
    return [{ field, message: 'must be https, or http on localhost, 127.0.0.1 or [::1].' }]
  if (text.includes('#')) return [{ field, message: 'must have no fragment.' }]
  if (uri.username || uri.password) return [{ field, message: 'must have no user name or password.' }]
  return []
}
