import { hash } from '@node-rs/argon2'
import type { Principal } from '../../kernel/context.ts'
import type { FindMembership } from '../../kernel/credentials.ts'
import { type Leaf, type Marks, text } from '../../kernel/fields.ts'
import { newId } from '../../kernel/ids.ts'
import { type Role, roleScopes } from '../../kernel/scopes.ts'
import type { Sql } from '../../kernel/sql.ts'
import { workspaceOf } from '../workspaces/queries.ts'

export interface Account {
  id: string
  email: string
  name: string
}

export const minPasswordLength = 8

/** A new password in a body. The upper bound keeps hashing cheap whatever is sent. */
export const newPassword = <const M extends Marks>(marks: M): Leaf<string, M> => {
  const field = text(marks)
  return { ...field, schema: { ...field.schema, minLength: minPasswordLength } }
}

/** argon2id with the library's defaults (19 MiB, 2 passes), which are OWASP's. */
export const hashPassword = (password: string): Promise<string> => hash(password)

export async function findAccountByEmail(
  sql: Sql,
  email: string,
): Promise<(Account & { passwordHash: string | null }) | undefined> {
  const [row] = await sql<(Account & { passwordHash: string | null })[]>`
    select id, email, name, password_hash as "passwordHash" from accounts where lower(email) = lower(${email})`
  return row
}

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

/** A person who works in a production workspace may try things out in its sandbox, with the same role. */
export async function insertSandboxMembership(
  sql: Sql,
  member: { productionId: string; accountId: string; email: string; name: string; role: Role },
  now: Date,
): Promise<void> {
  await sql`
    insert into agents (workspace_id, id, account_id, email, name, role, status, created_at, updated_at)
    select w.id, ${newId('agent', now)}, ${member.accountId}, ${member.email}, ${member.name}, ${member.role}, 'active', ${now}, ${now}
    from workspaces w where w.production_id = ${member.productionId}
    on conflict do nothing`
}

/** The person behind a credential, as they are in another of their workspaces: their role there bounds the grant. */
export const membershipFinder =
  (sql: Sql): FindMembership =>
  async (principal, workspaceId): Promise<Principal | undefined> => {
    if (!principal.accountId) return undefined
    const [row] = await sql`
      select w.id, w.name, w.plan, w.api_access, w.environment, w.currency, a.id as agent_id, a.role, a.team_id
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
