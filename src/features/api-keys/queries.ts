import type { Credential } from '../../kernel/credentials.ts'
import { hashToken } from '../../kernel/credentials.ts'
import { newId } from '../../kernel/ids.ts'
import type { Scope } from '../../kernel/scopes.ts'
import type { Sql } from '../../kernel/sql.ts'
import { workspaceOf } from '../workspaces/service.ts'

export interface ApiKeyRow {
  id: string
  workspace_id: string
  name: string
  scopes: Scope[]
  last_four: string
  environment: string
  created_by: string | null
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
}

export interface NewKey {
  workspaceId: string
  name: string
  scopes: readonly Scope[]
  token: string
  createdBy: string | null
  expiresAt?: Date | null
  /** Given by the operator, so it need not have our form. */
  bootstrap?: boolean
}

export async function insertKey(sql: Sql, key: NewKey, now: Date): Promise<string> {
  const id = newId('key', now)
  await sql`
    insert into api_keys (workspace_id, id, name, token_hash, last_four, scopes, bootstrap, created_by, created_at, expires_at)
    values (${key.workspaceId}, ${id}, ${key.name}, ${hashToken(key.token)}, ${key.token.slice(-4)},
      ${[...key.scopes]}, ${key.bootstrap ?? false}, ${key.createdBy}, ${now}, ${key.expiresAt ?? null})`
  return id
}

export const listKeys = (sql: Sql, workspaceId?: string): Promise<ApiKeyRow[]> =>
  sql<ApiKeyRow[]>`
    select k.id, k.workspace_id, k.name, k.scopes, k.last_four, w.environment, k.created_by, k.created_at,
      k.last_used_at, k.expires_at, k.revoked_at
    from api_keys k join workspaces w on w.id = k.workspace_id
    where ${workspaceId ? sql`k.workspace_id = ${workspaceId}` : sql`true`}
    order by k.created_at, k.id`

/** False when there is no such key; revoking twice changes nothing. */
export async function revokeKey(sql: Sql, id: string, now: Date): Promise<boolean> {
  const rows =
    await sql`update api_keys set revoked_at = coalesce(revoked_at, ${now}) where id = ${id} returning 1`
  return rows.length > 0
}

export const bootstrapKeyHashes = async (sql: Sql): Promise<string[]> =>
  (await sql`select token_hash from api_keys where bootstrap`).map((row) => row.token_hash)

/** A key with its workspace and the person who created it, in one statement. */
export async function findKey(sql: Sql, tokenHash: string): Promise<Credential | undefined> {
  const [row] = await sql`
    select k.id as key_id, k.scopes, k.expires_at, a.id as agent_id, a.account_id,
      w.id, w.name, w.plan, w.api_access, w.environment, w.currency, w.custom_limits
    from api_keys k
    join workspaces w on w.id = k.workspace_id
    left join agents a on a.workspace_id = k.workspace_id and a.id = k.created_by
    where k.token_hash = ${tokenHash} and k.revoked_at is null`
  if (!row) return undefined
  return {
    expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
    principal: {
      kind: 'api_key',
      credentialId: row.key_id,
      workspace: workspaceOf(row as never),
      scopes: new Set(row.scopes as Scope[]),
      granted: new Set(row.scopes as Scope[]),
      accountId: row.account_id,
      agentId: row.agent_id,
      role: null,
      teamId: null,
    },
  }
}
