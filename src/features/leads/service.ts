import { changeEvent, type Event, event } from '../../events/catalog.ts'
import { createRecord, type Versioned } from '../../events/change.ts'
import { writeWithEvents } from '../../events/record.ts'
import type { Tx } from '../../kernel/context.ts'
import { invalid, notFound, type Problem } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { activityRows, createdEntries, type Remarks, wonEntry } from './activity.ts'
import type { Activity } from './activity-schema.ts'
import { leadDefaults } from './defaults.ts'
import { findLead, listActivity } from './queries.ts'
import { referencesHold, refuseBrokenReferences } from './references.ts'
import { Lead, type LeadCreate } from './schema.ts'
import { scoreOf } from './score.ts'

export { changeLead, type LeadChange } from './change.ts'
export { reassignLeads } from './hand-over.ts'
export { addNote } from './notes.ts'
export { type LeadBrief, leadBriefs, leadFilters, leadSource, listLeads } from './queries.ts'

export async function getLead(tx: Tx, id: string, lock = false): Promise<Versioned<Lead>> {
  const found = isId('lead', id) ? await findLead(tx, id, lock) : undefined
  if (!found) throw notFound('lead')
  return found
}

/** The lead, its activity and its events in one statement. */
export async function createLead(tx: Tx, body: LeadCreate): Promise<Versioned<Lead>> {
  const { record: lead, problems } = newLead(tx, body)
  if (problems.length > 0) throw invalid(problems)
  const events = createdEvents(lead)
  const provided = referencesHold(tx, lead)
  const written = await createRecord(tx, Lead, lead, events, {
    along: [activityRows(tx, lead, createdEntries(lead))],
    hidden: { score_falls_at: scoreOf(lead, tx.now).fallsAt },
    ...(provided && { provided }),
  })
  if (!written) {
    await refuseBrokenReferences(tx, lead)
    // Whatever was missing is there now.
    return createLead(tx, body)
  }
  return { record: lead, version: 1 }
}

export function createdEvents(lead: Lead): Event[] {
  const created = event('lead.created', lead)
  return lead.assigned_agent
    ? [created, changeEvent('lead.assigned', lead, { assigned_agent: null })]
    : [created]
}

/** The whole lead that a body stands for, not yet written. */
export function newLead(tx: Tx, body: LeadCreate): { record: Lead; problems: Problem[] } {
  const now = tx.now.toISOString()
  const system = {
    id: tx.newId('lead'),
    stage: 'new' as const,
    score: 0,
    loss_reason: null,
    created_at: now,
    updated_at: now,
  }
  const { record, problems } = Lead.complete(body, system, leadDefaults(tx))
  return { record: { ...record, score: scoreOf(record, tx.now).score }, problems }
}

/** A lead that stands at won is won once more: nothing of it changes, but that it happened is kept and told. */
export async function tellWonAgain(tx: Tx, lead: Lead, remarks: Remarks): Promise<void> {
  const entries = activityRows(tx, lead, [wonEntry(remarks)])
  await writeWithEvents(tx, tx.sql`select 1`, [event('lead.won', lead)], [entries])
}

export async function leadActivity(tx: Tx, id: string, query: ListQuery): Promise<Page<Activity>> {
  const [page] = await Promise.all([listActivity(tx, id, query), getLead(tx, id)])
  return page
}
