import type { Tx } from '../../kernel/context.ts'
import { invalidField } from '../../kernel/errors.ts'
import { dateParam, textParam } from '../../kernel/query.ts'
import { type Fragment, nothing } from '../../kernel/sql.ts'

/** What a figure is asked about: whole days in UTC, and perhaps one agent or one property. */
export interface Scope {
  start: Date
  end: Date
  agentId: string | undefined
  propertyId: string | undefined
}

export const scopeParams = {
  start_date: dateParam('The first day (UTC); 30 days back from the last unless given.'),
  end_date: dateParam('The last day (UTC), included; today unless given.'),
  agent_id: textParam('Only what belongs to this agent.'),
  property_id: textParam('Only what is about this property or its units.'),
}

export interface AskedScope {
  start_date?: string
  end_date?: string
  agent_id?: string
  property_id?: string
}

const dayMs = 86_400_000
const defaultDays = 30
const midnight = (day: string) => new Date(`${day}T00:00:00Z`)
export const dayOf = (date: Date) => date.toISOString().slice(0, 10)

export function scopeOf(asked: AskedScope, now: Date): Scope {
  const last = midnight(asked.end_date ?? dayOf(now))
  const start = asked.start_date
    ? midnight(asked.start_date)
    : new Date(last.getTime() - (defaultDays - 1) * dayMs)
  if (start > last) throw invalidField('start_date', 'must not be after end_date.')
  const end = new Date(last.getTime() + dayMs)
  return { start, end, agentId: asked.agent_id, propertyId: asked.property_id }
}

export const daysOf = ({ start, end }: Scope) => ({
  start_date: dayOf(start),
  end_date: dayOf(new Date(end.getTime() - dayMs)),
})

/** Leads that came in these days. */
export function cohort({ sql, workspaceId }: Tx, { start, end, agentId, propertyId }: Scope): Fragment {
  return sql`leads.workspace_id = ${workspaceId} and leads.created_at >= ${start} and leads.created_at < ${end}
    ${agentId === undefined ? nothing(sql) : sql`and leads.assigned_agent = ${agentId}`}
    ${propertyId === undefined ? nothing(sql) : sql`and leads.interested_properties && ${interests(sql, workspaceId, propertyId)}`}`
}

/** Changes of stage in these days. */
export function moves({ sql, workspaceId }: Tx, { start, end, agentId, propertyId }: Scope): Fragment {
  return sql`moves.workspace_id = ${workspaceId} and moves.type = 'stage_change'
    and moves."timestamp" >= ${start} and moves."timestamp" < ${end}
    ${agentId === undefined ? nothing(sql) : sql`and moves.agent_id = ${agentId}`}
    ${
      propertyId === undefined
        ? nothing(sql)
        : sql`and moves.lead_id in (
            select leads.id from leads where leads.workspace_id = ${workspaceId}
              and leads.interested_properties && ${interests(sql, workspaceId, propertyId)})`
    }`
}

/** Deals of the agent and property, whenever they were. */
export function dealsOf({ sql, workspaceId }: Tx, { agentId, propertyId }: Scope): Fragment {
  return sql`deals.workspace_id = ${workspaceId}
    ${agentId === undefined ? nothing(sql) : sql`and deals.agent_id = ${agentId}`}
    ${propertyId === undefined ? nothing(sql) : sql`and deals.property_id = ${propertyId}`}`
}

const interests = (sql: Tx['sql'], workspaceId: string, propertyId: string) => sql`(
  select array_append(array_agg(units.id), ${propertyId}) from units
  where units.workspace_id = ${workspaceId} and units.property_id = ${propertyId})`

/** To four decimals; 0 of nothing. */
export const rate = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000
