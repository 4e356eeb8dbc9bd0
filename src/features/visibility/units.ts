import { isAdmin } from '../../kernel/authorize.ts'
import type { Principal, Tx } from '../../kernel/context.ts'
import type { Fragment } from '../../kernel/sql.ts'

/** What of the inventory a caller may see. Everything that reads units asks here. */

export const unitVisibilities = ['public', 'agents', 'team', 'private'] as const

const seesAll = (viewer: Principal) => isAdmin(viewer) || (isAbove(viewer) && viewer.kind !== 'api_key')

// A key without the scope admin never shows what is private, not even where its creator is an owner.
const seesAllButPrivate = (viewer: Principal) => viewer.role === null || isAbove(viewer)

/** Owners and admins stand above every team. */
const isAbove = ({ role }: Principal) => role === 'owner' || role === 'admin'

/** Callers with the same answer see the same units: names them where results are remembered. */
export function unitSight(viewer: Principal): string {
  if (seesAll(viewer)) return 'all'
  if (seesAllButPrivate(viewer)) return 'all but private'
  return `agent ${viewer.agentId} of team ${viewer.teamId}`
}

/** Undefined where the caller sees every unit. */
export function visibleUnits({ sql, viewer }: Tx): Fragment | undefined {
  if (seesAll(viewer)) return undefined
  if (seesAllButPrivate(viewer)) return sql`units.visibility <> 'private'`
  return sql`(units.visibility in ('public', 'agents') or units.visibility = 'team' and (
    units.assigned_agent = ${viewer.agentId} or exists (
      select from agents
      where agents.workspace_id = units.workspace_id and agents.id = units.assigned_agent
        and agents.team_id = ${viewer.teamId})))`
}
