import type { Tx } from '../../kernel/context.ts'
import { invalid, type Problem } from '../../kernel/errors.ts'
import { allOf, type Fragment, nothing } from '../../kernel/sql.ts'
import { visibleUnits } from '../visibility/units.ts'
import type { Lead } from './schema.ts'

/*
 * Whom and what a lead may refer to. The condition goes into the statement that writes the lead, so
 * that the usual case costs no look-up; only when it did not hold is the reason looked for.
 */
type References = Partial<Pick<Lead, 'assigned_agent' | 'interested_properties'>>

/** Undefined where nothing has to be checked. */
export function referencesHold(tx: Tx, refers: References): Fragment | undefined {
  const { sql, workspaceId } = tx
  const conditions: Fragment[] = []
  if (refers.assigned_agent) {
    // The lock keeps a deactivation from handing over the agent's leads without this one.
    conditions.push(sql`exists (
      select from agents where agents.workspace_id = ${workspaceId} and agents.id = ${refers.assigned_agent}
        and agents.status <> 'inactive' for share)`)
  }
  if (refers.interested_properties && refers.interested_properties.length > 0) {
    conditions.push(sql`not exists (${missing(tx, refers.interested_properties)})`)
  }
  return conditions.length > 0 ? allOf(sql, conditions) : undefined
}

/** Throws if a reference is the reason why nothing was written. */
export async function refuseBrokenReferences(tx: Tx, refers: References): Promise<void> {
  const { sql, workspaceId } = tx
  const problems: Problem[] = []
  if (refers.assigned_agent) {
    const [agent] = await sql`
      select status from agents where workspace_id = ${workspaceId} and id = ${refers.assigned_agent}`
    const field = 'assigned_agent'
    if (!agent) problems.push({ field, message: 'does not name a record of this workspace.' })
    else if (agent.status === 'inactive') problems.push({ field, message: 'names an agent who is inactive.' })
  }
  if (refers.interested_properties && refers.interested_properties.length > 0) {
    const rows = await missing(tx, refers.interested_properties)
    for (const { position } of rows) {
      const field = `interested_properties[${Number(position) - 1}]`
      problems.push({ field, message: 'does not name a property or unit of this workspace.' })
    }
  }
  if (problems.length > 0) throw invalid(problems)
}

function missing(tx: Tx, ids: string[]) {
  const { sql, workspaceId } = tx
  const visible = visibleUnits(tx)
  return sql`
    select wanted.position from unnest(${ids}::text[]) with ordinality as wanted (id, position)
    where not exists (
        select from properties where properties.workspace_id = ${workspaceId} and properties.id = wanted.id)
      and not exists (
        select from units where units.workspace_id = ${workspaceId} and units.id = wanted.id
        ${visible ? sql`and ${visible}` : nothing(sql)})`
}
