import { randomBytes } from 'node:crypto'
import { type OpenContext, type Tx, transaction } from '../../kernel/context.ts'
import { hashToken } from '../../kernel/credentials.ts'
import { invalidField } from '../../kernel/errors.ts'
import type { Pool, Sql } from '../../kernel/sql.ts'
import {
  findAccountByEmail,
  insertAccount,
  insertSandboxMembership,
  setPassword,
} from '../accounts/people.ts'
import { queueMail } from '../mail/outbox.ts'
import { invitationMail } from './invitation-mail.ts'
import { findAgent } from './queries.ts'
import type { Agent } from './schema.ts'

export const invitationDays = 7

/** The row that goes with a new invitation, and the token that only the mail will hold. */
export function newInvitation(agentId: string, now: Date) {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = new Date(now.getTime() + invitationDays * 86_400_000)
  const row = { agent_id: agentId, token_hash: hashToken(token), created_at: now, expires_at: expiresAt }
  return { token, row }
}

export async function mailInvitation(tx: Tx, agent: Agent, token: string, baseUrl: string): Promise<void> {
  const link = `${baseUrl}/invitations/accept?token=${token}`
  const { workspace } = tx.viewer
  await queueMail(tx, invitationMail({ agent, workspaceName: workspace.name, link, days: invitationDays }))
}

/** Invites an agent anew: whatever was sent before no longer works. */
export function inviteAgain(tx: Tx, agent: Agent, baseUrl: string): Promise<void> {
  return transaction(tx, async (tx) => {
    const { sql, workspaceId } = tx
    const { token, row } = newInvitation(agent.id, tx.now)
    await sql`
      insert into invitations ${sql({ workspace_id: workspaceId, ...row } as never)}
      on conflict (workspace_id, agent_id) do update
      set token_hash = excluded.token_hash, created_at = excluded.created_at, expires_at = excluded.expires_at`
    await mailInvitation(tx, agent, token, baseUrl)
  })
}

export async function withdrawInvitation({ sql, workspaceId }: Tx, agentId: string): Promise<void> {
  await sql`delete from invitations where workspace_id = ${workspaceId} and agent_id = ${agentId}`
}

interface Acceptance {
  token: string
  password: string
  name?: string | null
}

/**
 * Turns an invitation into a membership. Whoever has an account under that address joins with it and
 * keeps its password: the link has shown that the address is theirs.
 */
export async function acceptInvitation(ctx: OpenContext, given: Acceptance): Promise<Agent> {
  const now = ctx.clock.now()
  const tokenHash = hashToken(given.token)
  return (ctx.sql as Pool).begin(async (sql) => {
    const [invited] = await sql`
      with used as (
        delete from invitations where token_hash = ${tokenHash} and expires_at > ${now}
        returning workspace_id, agent_id)
      select a.workspace_id, a.id, a.email, a.name, a.role from used
      join agents a on a.workspace_id = used.workspace_id and a.id = used.agent_id
      where a.status <> 'inactive'`
    if (!invited) throw unknownInvitation()
    const name = given.name ?? invited.name
    const accountId = await accountFor(sql, { email: invited.email, name, password: given.password }, now)
    await activate(sql, { workspaceId: invited.workspace_id, agentId: invited.id, accountId, name }, now)
    const { email, role } = invited as { email: string; role: Agent['role'] }
    await insertSandboxMembership(
      sql,
      { productionId: invited.workspace_id, accountId, email, name, role },
      now,
    )
    const agent = await findAgent({ sql, workspaceId: invited.workspace_id }, invited.id)
    return agent!.record
  }) as Promise<Agent>
}

/** Theirs if they have one; without a password of its own yet, it gets the new one. */
async function accountFor(
  sql: Sql,
  person: { email: string; name: string; password: string },
  now: Date,
): Promise<string> {
  const account = await findAccountByEmail(sql, person.email)
  if (!account) return insertAccount(sql, person, now)
  if (account.passwordHash === null) await setPassword(sql, account.id, person.password, now)
  return account.id
}

const activate = (
  sql: Sql,
  member: { workspaceId: string; agentId: string; accountId: string; name: string },
  now: Date,
) => sql`
  update agents
  set status = 'active', account_id = ${member.accountId}, name = ${member.name}, updated_at = ${now},
    version = version + 1
  where workspace_id = ${member.workspaceId} and id = ${member.agentId}`

const unknownInvitation = () =>
  invalidField('token', 'is not an open invitation: it was mistyped, used already, replaced or has expired.')
