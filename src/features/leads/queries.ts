import type { Versioned } from '../../events/change.ts'
import type { Tx } from '../../kernel/context.ts'
import {
  anyOf,
  atLeast,
  containsLower,
  equalsText,
  type Filter,
  type Filters,
  hasAny,
  onOrAfterDay,
  onOrBeforeDay,
} from '../../kernel/filters.ts'
import { type ListSource, listPage, type Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { anyOfParam, textParam } from '../../kernel/query.ts'
import { nothing, raw } from '../../kernel/sql.ts'
import { Activity } from './activity-schema.ts'
import { activeStages, Lead, leadSources, leadStages } from './schema.ts'

const interestedIn: Filter<string> = {
  gathers: true,
  param: textParam('Only leads interested in this property, or in this unit. A property includes its units.'),
  where: (sql, id, workspaceId) => sql`leads.interested_properties && (
    select array_append(array_agg(units.id), ${id}) from units
    where units.workspace_id = ${workspaceId} and units.property_id = ${id})`,
}

// Brought to a whole number within reach: compared with anything else, the index would be of no use.
const scoreFrom: Filter<number> = {
  ...atLeast(Lead.column('score'), 'Only leads with this score or a higher one.'),
  where: (sql, score) => sql`leads.score >= ${Math.min(Math.ceil(score), 101)}`,
}

export const leadFilters: Filters = {
  stage: anyOf(Lead.column('stage'), 'lead_stage', leadStages, 'Only leads in this stage.'),
  source: anyOf(Lead.column('source'), 'lead_source', leadSources, 'Only leads from this source.'),
  agent_id: equalsText(Lead.column('assigned_agent'), 'Only leads assigned to this agent.'),
  property_id: interestedIn,
  min_score: scoreFrom,
  tags: hasAny(Lead.column('tags'), 'Only leads with at least one of these tags, separated by commas.'),
  created_after: onOrAfterDay(Lead.column('created_at'), 'Only leads created on this day (UTC) or later.'),
  created_before: onOrBeforeDay(
    Lead.column('created_at'),
    'Only leads created on this day (UTC) or earlier.',
  ),
  search: containsLower(
    'leads.search_text',
    'Only leads with this in their name, e-mail address or phone number, whatever the case.',
  ),
  external_id: equalsText(Lead.column('external_id'), 'Only the lead with this external id.'),
}

const statuses = ['active', ...leadStages] as const

/** Of the leads of one agent. */
export const agentLeadFilters: Filters = {
  ...leadFilters,
  status: {
    param: anyOfParam(
      statuses,
      'Only `active` leads (neither won nor lost), or those in one of these stages.',
    ),
    where: (sql, wanted: (typeof statuses)[number][], workspaceId) =>
      leadFilters.stage!.where(
        sql,
        wanted.flatMap((status) => (status === 'active' ? activeStages : [status])),
        workspaceId,
      ),
  },
}

/** Leads for lists and exports. */
export const leadSource = ({ sql }: Tx, filters: Filters = leadFilters): ListSource<Lead> => ({
  resource: Lead,
  filters,
  select: raw(sql, Lead.selectList),
  fromRow: Lead.fromRow,
})

export const listLeads = (tx: Tx, query: ListQuery, filters?: Filters): Promise<Page<Lead>> =>
  listPage(tx, leadSource(tx, filters), query)

export async function findLead(tx: Tx, id: string, lock = false): Promise<Versioned<Lead> | undefined> {
  const { sql } = tx
  const [row] = await sql`
    select ${raw(sql, Lead.selectList)}, leads.version from leads
    where leads.workspace_id = ${tx.workspaceId} and leads.id = ${id}
    ${lock ? sql`for no key update` : nothing(sql)}`
  return row && { record: Lead.fromRow(row), version: row.version }
}

export async function findLeads({ sql, workspaceId }: Tx, ids: string[]): Promise<Lead[]> {
  const rows = await sql`
    select ${raw(sql, Lead.selectList)} from leads where workspace_id = ${workspaceId} and id = any(${ids})`
  return rows.map(Lead.fromRow)
}

export function listActivity(tx: Tx, leadId: string, query: ListQuery): Promise<Page<Activity>> {
  const { sql } = tx
  return listPage(
    tx,
    {
      resource: Activity,
      filters: {},
      select: raw(sql, Activity.selectList),
      where: [sql`lead_activity.lead_id = ${leadId}`],
      seenBy: leadId,
      fromRow: Activity.fromRow,
    },
    query,
  )
}

/** Hands over all leads of an agent, whoever else changes them meanwhile. Gives back their ids. */
export async function handOverLeads(
  { sql, workspaceId, now }: Tx,
  from: string,
  to: string,
): Promise<string[]> {
  const rows = await sql`
    update leads set assigned_agent = ${to}, updated_at = ${now}, version = version + 1
    where workspace_id = ${workspaceId} and assigned_agent = ${from}
    returning id`
  return rows.map((row) => row.id)
}

/** What other records show of a lead. */
export interface LeadBrief {
  id: string
  name: string
  email: string
  stage: Lead['stage']
}

export const leadBriefs = ({ sql, workspaceId }: Tx, ids: string[]): Promise<LeadBrief[]> =>
  sql<LeadBrief[]>`
    select id, name, email, stage from leads where workspace_id = ${workspaceId} and id = any(${ids})`
