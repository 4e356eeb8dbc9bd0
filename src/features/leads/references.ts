import type { Tx } from '../../kernel/context.ts'
import { invalid, type Problem } from '../../kernel/errors.ts'
import { allOf, type Fragment, nothing } from '../../kernel/sql.ts'
import { visibleUnits } from '../visibility/units.ts'
import type { Lead } from './schema.ts'

/*
 * Whom and what a lead may refer to. The condition goes into the statement that writes the lead, so
 * that the usual case costs no look-up; only when it did not hold is the reason looked for.
 */
export interface References extends Partial<Pick<Lead, 'assigned_agent' | 'interested_properties'>> {
  /** Properties and units that the lead refers to already: they may be gone by now, and stay. */
  known?: string[]
}

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
  if (added(refers).length > 0) conditions.push(sql`not exists (${missing(tx, added(refers))})`)
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
  if (added(refers).length > 0) {
    const unknown = new Set((await missing(tx, added(refers))).map(({ id }) => id))
    for (const [at, id] of refers.interested_properties!.entries()) {
      if (!unknown.has(id)) continue
      const field = `interested_properties[${at}]`
      problems.push({ field, message: 'does not name a property or unit of this workspace.' })
    }
  }
  if (problems.length > 0) throw invalid(problems)
}

const added = ({ interested_properties = [], known = [] }: References) =>
  interested_properties.filter((id) => !known.includes(id))

function missing(tx: Tx, ids: string[]) {
  const { sql, workspaceId } = tx
  const visible = visibleUnits(tx)
  return sql`
    select wanted.id from unnest(${ids}::text[]) as wanted (id)
    where not exists (
        select from properties where properties.workspace_id = ${workspaceId} and properties.id = wanted.id)
      and not exists (
        select from units where units.workspace_id = ${workspaceId} and units.id = wanted.id
        ${visible ? sql`and ${visible}` : nothing(sql)})`
}
