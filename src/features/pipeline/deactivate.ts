import type { Versioned } from '../../events/change.ts'
import { type Tx, transaction } from '../../kernel/context.ts'
import { invalidField } from '../../kernel/errors.ts'
import type { Agent } from '../agents/schema.ts'
import { endMembership, requireActiveAgent } from '../agents/service.ts'
import { reassignLeads } from '../leads/service.ts'

export interface Deactivation {
  agent: Versioned<Agent>
  leadsReassigned: number
}

export interface DeactivationWishes {
  reassign_leads_to?: string | null
  reason?: string | null
}

/** Deactivates an agent and hands their leads over, all of it or nothing. */
export function deactivateAgent(
  tx: Tx,
  id: string,
  { reassign_leads_to: successor, reason }: DeactivationWishes,
): Promise<Deactivation> {
  return transaction(tx, async (tx) => {
    const { agent, changed } = await endMembership(tx, id, reason)
    if (successor === id) throw invalidField('reassign_leads_to', 'must name another agent.')
    if (successor) await requireActiveAgent(tx, successor, 'reassign_leads_to')
    if (!changed || !successor) return { agent, leadsReassigned: 0 }
    return { agent, leadsReassigned: await reassignLeads(tx, id, successor, reason) }
  })
}
