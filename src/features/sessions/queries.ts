import { randomBytes } from 'node:crypto'
import type { Environment } from '../../kernel/context.ts'
import { type Credential, type CredentialKind, hashToken } from '../../kernel/credentials.ts'
import { newId } from '../../kernel/ids.ts'
import { cutToRole, type Role, scopes } from '../../kernel/scopes.ts'
import type { Sql } from '../../kernel/sql.ts'
import { workspaceOf } from '../workspaces/service.ts'

const prefix = 'pb_sess_'
export const sessionSeconds = 86_400

export async function insertSession(
  sql: Sql,
  accountId: string,
  now: Date,
): Promise<{ token: string; expiresAt: Date }> {
  const token = prefix + randomBytes(32).toString('base64url')
  const expiresAt = new Date(now.getTime() + sessionSeconds * 1_000)
  await sql`
    insert into sessions (id, account_id, token_hash, created_at, expires_at)
    values (${newId('sess', now)}, ${accountId}, ${hashToken(token)}, ${now}, ${expiresAt})`
  return { token, expiresAt }
}

export async function sessionExpiry(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql`select expires_at from sessions where id = ${id}`
  return row?.expires_at
}

export async function deleteSession(sql: Sql, id: string): Promise<void> {
  await sql`delete from sessions where id = ${id}`
}

/** Sessions as a way in: everything that the person's role allows, in the first of their workspaces on this host. */
export const sessionCredentials = (sql: Sql): CredentialKind => ({
  recognises: (token) => token.startsWith(prefix),
  find: (_token, tokenHash, environment) => findSession(sql, tokenHash, environment),
})

async function findSession(
  sql: Sql,
  tokenHash: string,
  environment: Environment,
): Promise<Credential | undefined> {
  const [row] = await sql`
    select s.id as session_id, s.account_id, s.expires_at, a.id as agent_id, a.role, a.team_id,
      w.id, w.name, w.plan, w.api_access, w.environment, w.currency, w.custom_limits
    from sessions s
    join active_members a on a.account_id = s.account_id
    join workspaces w on w.id = a.workspace_id and w.environment = ${environment}
    where s.token_hash = ${tokenHash}
    order by a.created_at, w.id limit 1`
  if (!row) return undefined
  const granted = new Set(scopes)
  return {
    expiresAt: new Date(row.expires_at),
    principal: {
      kind: 'session',
      credentialId: row.session_id,
      workspace: workspaceOf(row as never),
      granted,
      scopes: cutToRole(granted, row.role as Role),
      accountId: row.account_id,
      agentId: row.agent_id,
      role: row.role,
      teamId: row.team_id,
    },
  }
}
