import { changeEvent, type Event } from '../../events/catalog.ts'
import { updateRecord, type Versioned } from '../../events/change.ts'
import type { Rows } from '../../events/record.ts'
import type { Tx } from '../../kernel/context.ts'
import { notFound } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { activityRows, changeEntries, type Remarks } from './activity.ts'
import { leadDefaults } from './defaults.ts'
import { findLead } from './queries.ts'
import { type References, referencesHold, refuseBrokenReferences } from './references.ts'
import { Lead, type LeadUpdate, type LossReason, lossReasons } from './schema.ts'
import { scoreOf } from './score.ts'

export interface LeadChange {
  patch: LeadUpdate & { loss_reason?: LossReason }
  ifMatch?: string | undefined
  remarks?: Remarks
  /** What is told besides the stage and the agent: `lead.updated` for a PUT, nothing for an action of its own. */
  events?(after: Lead, previous: Partial<Lead>): Event[]
  /** Takes the place of the entries that the change leaves by itself. */
  along?(after: Lead): Rows[]
  onChange?(after: Lead, previous: Partial<Lead>): void
}

/** Changes a lead with its score, activity and events, by whichever way the change came about. */
export function changeLead(tx: Tx, id: string, change: LeadChange): Promise<Versioned<Lead>> {
  if (!isId('lead', id)) throw notFound('lead')
  const { patch, remarks = {} } = change
  return updateRecord(tx, {
    resource: Lead,
    find: (tx, lock) => findLead(tx, id, lock),
    patch,
    ifMatch: change.ifMatch,
    defaults: leadDefaults(tx),
    settle: (after, previous) => settled(tx, after, previous, change),
    events: (after, previous) => [
      ...(change.events?.(after, previous) ?? []),
      ...stageEvents(after, previous),
      ...assignmentEvents(after, previous),
    ],
    accompany: (after, previous) => {
      change.onChange?.(after, previous)
      const provided = referencesHold(tx, newReferences(after, previous))
      return {
        along: change.along?.(after) ?? [activityRows(tx, after, changeEntries(after, previous, remarks))],
        hidden: { score_falls_at: scoreOf(after, tx.now).fallsAt },
        ...(provided && { provided }),
      }
    },
    explain: (tx, after, previous) => refuseBrokenReferences(tx, newReferences(after, previous)),
  })
}

/** What follows from a change: when they were contacted, why they were lost, what they score. */
function settled(tx: Tx, after: Lead, previous: Partial<Lead>, { patch, remarks }: LeadChange): Lead {
  const moved = previous.stage !== undefined
  const contacted = moved && after.stage === 'contacted' && !('last_contacted' in previous)
  const lead = {
    ...after,
    last_contacted: contacted ? tx.now.toISOString() : after.last_contacted,
    loss_reason: after.stage === 'lost' ? lossReasonOf(after, moved, patch.loss_reason, remarks) : null,
  }
  return { ...lead, score: scoreOf(lead, tx.now).score }
}

function lossReasonOf(
  lead: Lead,
  moved: boolean,
  given: LossReason | undefined,
  remarks: Remarks | undefined,
): LossReason {
  if (given) return given
  if (!moved && lead.loss_reason) return lead.loss_reason
  return lossReasons.find((reason) => reason === remarks?.reason) ?? 'other'
}

// Only new references are checked: one that was right when it was made may have been deleted or deactivated since.
const newReferences = (after: Lead, previous: Partial<Lead>): References => ({
  ...('assigned_agent' in previous && { assigned_agent: after.assigned_agent }),
  ...('interested_properties' in previous && {
    interested_properties: after.interested_properties,
    known: previous.interested_properties ?? [],
  }),
})

function stageEvents(after: Lead, previous: Partial<Lead>): Event[] {
  if (previous.stage === undefined) return []
  const told = [changeEvent('lead.stage_changed', after, previous)]
  if (after.stage === 'won') told.push(changeEvent('lead.won', after, previous))
  if (after.stage === 'lost') told.push(changeEvent('lead.lost', after, previous))
  return told
}

const assignmentEvents = (after: Lead, { assigned_agent }: Partial<Lead>): Event[] =>
  assigned_agent !== undefined && after.assigned_agent !== null
    ? [changeEvent('lead.assigned', after, { assigned_agent })]
    : []
