import { rowsOf, writeWithEvents } from '../../events/record.ts'
import type { Tx } from '../../kernel/context.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { CreateOf } from '../../kernel/resource.ts'
import { activityRows } from './activity.ts'
import { contactNoteTypes, Note } from './activity-schema.ts'
import { changeLead } from './change.ts'
import { findLead } from './queries.ts'
import type { Lead } from './schema.ts'

/** Keeps a note with its entry in the activity. One that tells of an exchange also dates the last contact. */
export async function addNote(tx: Tx, leadId: string, body: CreateOf<typeof Note>): Promise<Note> {
  const system = {
    id: tx.newId('note'),
    lead_id: leadId,
    user: tx.viewer.agentId,
    created_at: tx.now.toISOString(),
  }
  const { record: note, problems } = Note.complete(body, system, tx.viewer.workspace)
  if (problems.length > 0) throw invalid(problems)
  const contact = contactNoteTypes.includes(note.type)
  const along = (lead: Lead) => [
    rowsOf(Note, [note]),
    activityRows(tx, lead, [{ type: 'note', description: note.content, contact }]),
  ]
  const lead = isId('lead', leadId) ? await findLead(tx, leadId) : undefined
  if (!lead) throw notFound('lead')
  // A second call within the same millisecond changes nothing of the lead, but is a note all the same.
  if (contact && lead.record.last_contacted !== note.created_at) {
    await changeLead(tx, leadId, { patch: { last_contacted: note.created_at }, along })
  } else {
    const { sql, workspaceId } = tx
    const there = sql`select 1 from leads where workspace_id = ${workspaceId} and id = ${leadId}`
    await writeWithEvents(tx, there, [], along(lead.record))
  }
  return note
}
