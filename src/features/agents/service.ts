import { type Batch, idsIn } from '../../events/batch.ts'
import { event } from '../../events/catalog.ts'
import { changeRecord, createRecord, updateRecord, type Versioned } from '../../events/change.ts'
import { isAdmin } from '../../kernel/authorize.ts'
import { type Tx, transaction } from '../../kernel/context.ts'
import { conflict, forbidden, invalid, invalidField, notFound } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { inviteAgain, mailInvitation, newInvitation, withdrawInvitation } from './invitations.ts'
import { findAgent, hasAccount, lockOwners, lockStatus } from './queries.ts'
import { Agent, type AgentCreate, type AgentUpdate } from './schema.ts'

export { inviteAgain } from './invitations.ts'
export { agentFilters, agentSource, agentsInUse, listAgents } from './queries.ts'

export const agentBatch: Batch<Agent> = {
  resource: Agent,
  references: { team_id: idsIn('teams') },
  unique: { external_id: 'exact', email: 'anyCase' },
  events: (agent) => [event('agent.created', agent)],
}

export async function getAgent(tx: Tx, id: string, withStats = false): Promise<Versioned<Agent>> {
  const statsIn = withStats ? tx.viewer.workspace.currency : undefined
  const found = isId('agent', id) ? await findAgent(tx, id, { statsIn }) : undefined
  if (!found) throw notFound('agent')
  return found
}

/** Adds an agent and sends the invitation, which leads to `baseUrl`. */
export async function createAgent(tx: Tx, body: AgentCreate, baseUrl: string): Promise<Versioned<Agent>> {
  const { record, problems } = newAgent(tx, body)
  if (problems.length > 0) throw invalid(problems)
  requireMayGrant(tx, record.role)
  const { token, row } = newInvitation(record.id, tx.now)
  return transaction(tx, async (tx) => {
    const along = [{ resource: { table: 'invitations' }, rows: [row] }]
    await createRecord(tx, Agent, record, [event('agent.created', record)], { along })
    await mailInvitation(tx, record, token, baseUrl)
    return { record, version: 1 }
  })
}

/** The whole agent that a body stands for, not yet written. */
export function newAgent(tx: Tx, body: AgentCreate) {
  const now = tx.now.toISOString()
  const system = {
    id: tx.newId('agent'),
    status: 'invited' as const,
    stats: null,
    last_active: null,
    invitation_sent_at: now,
    created_at: now,
    updated_at: now,
  }
  return Agent.complete(body, system, tx.viewer.workspace)
}

export async function updateAgent(
  tx: Tx,
  id: string,
  patch: AgentUpdate,
  ifMatch: string | undefined,
  baseUrl: string,
): Promise<Versioned<Agent>> {
  if (!isId('agent', id)) throw notFound('agent')
  const touchesMembership = 'role' in patch || 'status' in patch || 'email' in patch
  if (!touchesMembership) return update(tx, id, patch, ifMatch)
  return transaction(tx, async (tx) => {
    const owners = await lockOwners(tx)
    const joined = await hasAccount(tx, id)
    let invite = false
    const updated = await update(tx, id, patch, ifMatch, (after, previous) => {
      requireAllowedStatus(after, previous)
      if (previous.role) for (const role of [previous.role, after.role]) requireMayGrant(tx, role)
      if (previous.role === 'owner' && after.role !== 'owner') requireAnotherOwner(owners, id)
      invite = !joined && after.status !== 'inactive' && ('email' in previous || 'status' in previous)
      return invite ? { ...after, invitation_sent_at: tx.now.toISOString() } : after
    })
    if (invite) await inviteAgain(tx, updated.record, baseUrl)
    return updated
  })
}

const update = (
  tx: Tx,
  id: string,
  patch: AgentUpdate,
  ifMatch: string | undefined,
  settle: (after: Agent, previous: Partial<Agent>) => Agent = (after) => after,
): Promise<Versioned<Agent>> =>
  updateRecord(tx, {
    resource: Agent,
    find: (tx, lock) => findAgent(tx, id, { lock }),
    patch,
    ifMatch,
    defaults: tx.viewer.workspace,
    events: () => [],
    settle,
  })

/** Ends a membership, in the transaction given. False when it had ended already. */
export async function endMembership(
  tx: Tx,
  id: string,
  reason?: string | null,
): Promise<{ agent: Versioned<Agent>; changed: boolean }> {
  const owners = await lockOwners(tx)
  const found = isId('agent', id) ? await findAgent(tx, id, { lock: true }) : undefined
  if (!found) throw notFound('agent')
  const { record } = found
  if (record.status === 'inactive') return { agent: found, changed: false }
  if (record.role === 'owner' && record.status === 'active') requireAnotherOwner(owners, id)
  const after = { ...record, status: 'inactive' as const }
  const agent = await changeRecord(tx, Agent, found, after, {
    events: (after) => [
      event('agent.deactivated', {
        ...after,
        previous: { status: record.status },
        ...(reason && { reason }),
      } as Agent),
    ],
  })
  await withdrawInvitation(tx, id)
  return { agent: agent!, changed: true }
}

/** An agent who is active, and stays so until the transaction ends. */
export async function requireActiveAgent(tx: Tx, id: string, field: string): Promise<void> {
  const status = isId('agent', id) ? await lockStatus(tx, id) : undefined
  if (!status) throw invalidField(field, 'does not name a record of this workspace.')
  if (status !== 'active') throw invalidField(field, `must name an active agent; this one is ${status}.`)
}

function requireAllowedStatus(after: Agent, previous: Partial<Agent>): void {
  if (!('status' in previous)) return
  if (after.status === 'inactive')
    throw conflict('Use POST /v1/agents/:id/deactivate, which can also hand over the leads.')
  if (after.status === 'invited') throw conflict('Only a new agent is invited; this one has been before.')
  if (previous.status === 'invited')
    throw conflict('An invited agent becomes active by accepting the invitation.')
}

function requireAnotherOwner(owners: string[], id: string): void {
  if (owners.some((owner) => owner !== id)) return
  throw conflict('This is the last active owner. Make another agent an owner first.')
}

// Whoever may manage agents could otherwise invite themselves as an owner, or remove those there are. No
// key of a sandbox can hold the scope admin, and nothing there needs guarding.
export const mayGrant = ({ viewer }: Tx, role: Agent['role']): boolean =>
  isAdmin(viewer) || viewer.workspace.environment === 'sandbox' || (role !== 'owner' && role !== 'admin')

function requireMayGrant(tx: Tx, role: Agent['role']): void {
  if (!mayGrant(tx, role)) throw forbidden(`Giving or taking the role ${role} needs the scope admin.`)
}
