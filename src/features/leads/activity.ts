import { type Rows, rowsOf } from '../../events/record.ts'
import type { Tx } from '../../kernel/context.ts'
import { Activity } from './activity-schema.ts'
import type { Lead } from './schema.ts'

/** What a caller may say about a change of stage. */
export interface Remarks {
  reason?: string | null | undefined
  notes?: string | null | undefined
}

interface Entry {
  type: Activity['type']
  description: string
  from?: string | null
  to?: string | null
  reason?: string | null | undefined
  notes?: string | null | undefined
  changes?: Record<string, unknown>
  /** Whether it was an exchange with the lead. */
  contact?: boolean
}

/** Entries of the activity of a lead, to be written with the change they tell of. */
export const activityRows = (tx: Tx, lead: Lead, entries: Entry[]): Rows => ({
  resource: Activity,
  rows: entries.flatMap(({ contact = false, ...entry }) => {
    const record = {
      id: tx.newId('activity'),
      lead_id: lead.id,
      user: tx.viewer.agentId,
      timestamp: tx.now.toISOString(),
      ...entry,
    }
    return rowsOf(Activity, [record], { agent_id: lead.assigned_agent, contact }).rows
  }),
})

export const createdEntries = (lead: Lead): Entry[] => [
  { type: 'created', description: `Lead created from ${lead.source}.`, to: lead.stage },
  ...(lead.assigned_agent ? [assignment(null, lead.assigned_agent)] : []),
]

/** What a change of a lead leaves in its activity, by whichever way it came about. */
export function changeEntries(after: Lead, previous: Partial<Lead>, remarks: Remarks = {}): Entry[] {
  const entries: Entry[] = []
  if (previous.stage !== undefined) entries.push(...stageEntries(after, previous.stage, remarks))
  else if (previous.loss_reason && after.loss_reason)
    entries.push(otherReason(previous.loss_reason, after.loss_reason, remarks))
  if ('assigned_agent' in previous) {
    entries.push(assignment(previous.assigned_agent ?? null, after.assigned_agent))
  }
  const changes = otherChanges(after, previous)
  const names = Object.keys(changes)
  if (names.length > 0) {
    const contact = 'last_contacted' in changes && after.last_contacted !== null
    entries.push({ type: 'updated', description: `Changed ${names.join(', ')}.`, changes, contact })
  }
  return entries
}

function stageEntries(after: Lead, from: Lead['stage'], { reason, notes }: Remarks): Entry[] {
  const to = after.stage
  const moved: Entry = {
    type: 'stage_change',
    description: `Stage changed from ${from} to ${to}.`,
    from,
    to,
    reason,
    notes,
    contact: to === 'contacted',
  }
  if (to === 'won') return [moved, { type: 'won', description: 'Lead won.', from, to, notes }]
  if (to === 'lost') {
    const lost: Entry = { type: 'lost', description: `Lead lost: ${after.loss_reason}.`, from, to, notes }
    return [moved, { ...lost, reason: after.loss_reason }]
  }
  return [moved]
}

const otherReason = (from: string, to: string, { notes }: Remarks): Entry => ({
  type: 'lost',
  description: `Reason of the loss changed from ${from} to ${to}.`,
  from,
  to,
  reason: to,
  notes,
})

/** Of a lead that is won again after its deal was cancelled. */
export const wonEntry = ({ notes }: Remarks): Entry => ({
  type: 'won',
  description: 'Lead won.',
  from: 'won',
  to: 'won',
  notes,
})

export function assignment(from: string | null, to: string | null): Entry {
  const description = to ? `Assigned to ${to}.` : `No longer assigned to ${from}.`
  return { type: 'assignment', description, from, to }
}

// These have entries of their own, or follow from what has.
const toldElsewhere = new Set(['stage', 'assigned_agent', 'loss_reason', 'score', 'updated_at'])

function otherChanges(after: Lead, previous: Partial<Lead>): Record<string, unknown> {
  const followed = previous.stage !== undefined && after.stage === 'contacted' ? 'last_contacted' : undefined
  return Object.fromEntries(
    Object.entries(previous)
      .filter(([name]) => !toldElsewhere.has(name) && name !== followed)
      .map(([name, from]) => [name, { from, to: after[name as keyof Lead] }]),
  )
}
