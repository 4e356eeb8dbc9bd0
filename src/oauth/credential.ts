import { workspaceOf } from '../features/workspaces/service.ts'
import type { CredentialKind } from '../kernel/credentials.ts'
import { cutToRole, isScope, type Role, type Scope } from '../kernel/scopes.ts'
import type { Sql } from '../kernel/sql.ts'

const shape = /^[\w-]{43}$/

/** Access tokens as a way in: what was allowed to the application, cut by the person's role, while both are there. */
export const oauthCredentials = (sql: Sql): CredentialKind => ({
  recognises: (token) => shape.test(token),
  find: async (_token, tokenHash) => {
    const [row] = await sql`
      select t.scopes, t.expires_at, t.account_id, g.client_id, a.id as agent_id, a.role, a.team_id,
        w.id, w.name, w.plan, w.api_access, w.environment, w.currency, w.custom_limits
      from oauth_records t
      join oauth_records g on g.model = 'Grant' and g.id_hash = t.grant_hash
      join workspaces w on w.id = g.granted_for
      join active_members a on a.workspace_id = w.id and a.account_id = t.account_id
      where t.model = 'AccessToken' and t.id_hash = ${tokenHash}`
    if (!row) return undefined
    const granted = new Set((row.scopes as string[]).filter(isScope)) as Set<Scope>
    return {
      expiresAt: new Date(row.expires_at),
      principal: {
        kind: 'oauth',
        // Names the application, not the token: nothing about a token is logged.
        credentialId: row.client_id,
        workspace: workspaceOf(row as never),
        granted,
        scopes: cutToRole(granted, row.role as Role),
        accountId: row.account_id,
        agentId: row.agent_id,
        role: row.role,
        teamId: row.team_id,
      },
    }
  },
})
