import { changeEvent } from '../../events/catalog.ts'
import { writeWithEvents } from '../../events/record.ts'
import type { Tx } from '../../kernel/context.ts'
import { activityRows, assignment } from './activity.ts'
import { findLeads, handOverLeads } from './queries.ts'

// Each lead brings an event of about a kilobyte; a thousand at a time keep the memory of one statement small.
const leadsAtOnce = 1_000

/** Gives all leads of one agent to another, in the transaction given. Says how many there were. */
export async function reassignLeads(
  tx: Tx,
  from: string,
  to: string,
  reason?: string | null,
): Promise<number> {
  const entry = { ...assignment(from, to), reason }
  const ids = await handOverLeads(tx, from, to)
  for (let at = 0; at < ids.length; at += leadsAtOnce) {
    const leads = await findLeads(tx, ids.slice(at, at + leadsAtOnce))
    const rows = leads.flatMap((lead) => activityRows(tx, lead, [entry]).rows)
    const events = leads.map((lead) => changeEvent('lead.assigned', lead, { assigned_agent: from }))
    const { resource } = activityRows(tx, leads[0]!, [])
    await writeWithEvents(tx, tx.sql`select 1`, events, [{ resource, rows }])
  }
  return ids.length
}
