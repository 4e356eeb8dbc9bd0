import { hash, verify } from '@node-rs/argon2'
import type { Principal } from '../../kernel/context.ts'
import type { FindMembership } from '../../kernel/credentials.ts'
import { type Leaf, type Marks, text } from '../../kernel/fields.ts'
import { newId } from '../../kernel/ids.ts'
import { cutToRole, type Role } from '../../kernel/scopes.ts'
import type { Sql } from '../../kernel/sql.ts'
import { workspaceOf } from '../workspaces/service.ts'

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

const nobodysPassword = hashPassword('the password of nobody')

/** Takes as long for an address without an account as for a wrong password, so that neither can be told apart. */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const matches = await verify(passwordHash ?? (await nobodysPassword), password)
  return matches && passwordHash !== null
}

export async function findAccountByEmail(
  sql: Sql,
  email: string,
): Promise<(Account & { passwordHash: string | null }) | undefined> {
  const [row] = await sql<(Account & { passwordHash: string | null })[]>`
    select id, email, name, password_hash as "passwordHash" from accounts where lower(email) = lower(${email})`
  return row
}

export async function findAccount(sql: Sql, id: string): Promise<Account | undefined> {
  const [row] = await sql<Account[]>`select id, email, name from accounts where id = ${id}`
  return row
}

/** Without a password the person can't sign in until they have set one by invitation or by mail. */
export async function insertAccount(
  sql: Sql,
  person: { email: string; name: string; password?: string },
  now: Date,
): Promise<string> {
  const id = newId('acct', now)
  const passwordHash = person.password === undefined ? null : await hashPassword(person.password)
  await sql`insert into accounts (id, email, name, password_hash, created_at, updated_at)
    values (${id}, ${person.email}, ${person.name}, ${passwordHash}, ${now}, ${now})`
  return id
}

/** Sets a password and ends every sign-in that was made with the old one, at once and everywhere. */
export async function setPassword(sql: Sql, accountId: string, password: string, now: Date): Promise<void> {
  const passwordHash = await hashPassword(password)
  await sql`
    with changed as (update accounts set password_hash = ${passwordHash}, updated_at = ${now} where id = ${accountId}),
    signed_out as (delete from sessions where account_id = ${accountId}),
    forgotten as (delete from password_resets where account_id = ${accountId})
    delete from oauth_records where account_id = ${accountId} and model = 'Session'`
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
    // Whoever allowed an application in named one workspace for it.
    if (!principal.accountId || principal.kind === 'oauth') return undefined
    const [row] = await sql`
      select w.id, w.name, w.plan, w.api_access, w.environment, w.currency, w.custom_limits, a.id as agent_id, a.role, a.team_id
      from active_members a join workspaces w on w.id = a.workspace_id
      where a.account_id = ${principal.accountId} and a.workspace_id = ${workspaceId}`
    if (!row) return undefined
    return {
      ...principal,
      workspace: workspaceOf(row as never),
      agentId: row.agent_id,
      role: row.role,
      teamId: row.team_id,
      scopes: cutToRole(principal.granted, row.role as Role),
    }
  }

/** The active owners of a workspace: who hears of what went wrong. */
export const ownersOf = (sql: Sql, workspaceId: string): Promise<{ email: string; name: string }[]> =>
  sql<{ email: string; name: string }[]>`
    select email, name from agents
    where workspace_id = ${workspaceId} and role = 'owner' and status = 'active' order by created_at, id`
