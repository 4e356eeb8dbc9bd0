import { rowsOf, writeWithEvents } from '../../events/record.ts'
import { type Tx, transaction } from '../../kernel/context.ts'
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
  const write = async (tx: Tx) => {
    const lead = isId('lead', leadId) ? await findLead(tx, leadId, contact) : undefined
    if (!lead) throw notFound('lead')
    if (contact && isLater(note.created_at, lead.record.last_contacted))
      await changeLead(tx, leadId, { patch: { last_contacted: note.created_at }, along })
    else await writeWithEvents(tx, stillThere(tx, leadId), [], along(lead.record))
  }
  // Whether the note dates the last contact is decided under a lock: somebody else's may do so at the same
  // moment, and then there would be nothing of the lead to change, and nothing for the note to go along with.
  await (contact ? transaction(tx, write) : write(tx))
  return note
}

const isLater = (at: string, than: string | null) => than === null || at > than

const stillThere = ({ sql, workspaceId }: Tx, leadId: string) =>
  sql`select 1 from leads where workspace_id = ${workspaceId} and id = ${leadId}`
