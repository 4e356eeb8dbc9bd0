import { hash } from '@node-rs/argon2'
import type { Principal } from '../../kernel/context.ts'
import type { FindMembership } from '../../kernel/credentials.ts'
import { newId } from '../../kernel/ids.ts'
import { type Role, roleScopes } from '../../kernel/scopes.ts'
import type { Sql } from '../../kernel/sql.ts'
import { workspaceOf } from '../workspaces/queries.ts'

/** argon2id with the library's defaults (19 MiB, 2 passes), which are OWASP's. */
export const hashPassword = (password: string): Promise<string> => hash(password)

export async function insertAccount(
  sql: Sql,
  person: { email: string; name: string; password: string },
  now: Date,
): Promise<string> {
  const id = newId('acct', now)
  await sql`insert into accounts (id, email, name, password_hash, created_at, updated_at)
    values (${id}, ${person.email}, ${person.name}, ${await hashPassword(person.password)}, ${now}, ${now})`
  return id
}

/** Makes a person an active agent of a workspace. */
export async function insertMembership(
  sql: Sql,
  member: { workspaceId: string; accountId: string; email: string; name: string; role: Role },
  now: Date,
): Promise<string> {
  const id = newId('agent', now)
  await sql`
    insert into agents (workspace_id, id, account_id, email, name, role, status, created_at, updated_at)
    values (${member.workspaceId}, ${id}, ${member.accountId}, ${member.email}, ${member.name}, ${member.role}, 'active', ${now}, ${now})`
  return id
}

/** The person behind a credential, as they are in another of their workspaces: their role there bounds the grant. */
export const membershipFinder =
  (sql: Sql): FindMembership =>
  async (principal, workspaceId): Promise<Principal | undefined> => {
    if (!principal.accountId) return undefined
    const [row] = await sql`
      select w.id, w.name, w.plan, w.api_access, w.environment, w.currency, w.custom_limits, a.id as agent_id, a.role, a.team_id
      from agents a join workspaces w on w.id = a.workspace_id
      where a.account_id = ${principal.accountId} and a.workspace_id = ${workspaceId} and a.status = 'active'`
    if (!row) return undefined
    const allowed = roleScopes[row.role as Role]
    return {
      ...principal,
      workspace: workspaceOf(row as never),
      agentId: row.agent_id,
      role: row.role,
      teamId: row.team_id,
      scopes: new Set(
        allowed.filter((scope) => principal.scopes.has(scope) || principal.scopes.has('admin')),
      ),
    }
  }
