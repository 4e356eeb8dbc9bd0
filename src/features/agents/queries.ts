import type { Versioned } from '../../events/change.ts'
import type { Tx } from '../../kernel/context.ts'
import { anyOf, contains, equalsText, type Filters } from '../../kernel/filters.ts'
import { type ListSource, listPage, type Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { roles } from '../../kernel/scopes.ts'
import { type Fragment, nothing, raw, type Sql } from '../../kernel/sql.ts'
import { Agent, agentStatuses } from './schema.ts'

export const agentFilters: Filters = {
  status: anyOf(Agent.column('status'), 'agent_status', agentStatuses, 'Only agents with this status.'),
  role: anyOf(Agent.column('role'), 'agent_role', roles, 'Only agents with this role.'),
  team_id: equalsText(Agent.column('team_id'), 'Only agents of this team.'),
  search: contains(
    [Agent.column('name'), Agent.column('email')],
    'Only agents with this in their name or e-mail address, whatever the case.',
  ),
  external_id: equalsText(Agent.column('external_id'), 'Only the agent with this external id.'),
}

/** Agents for lists and exports. */
export const agentSource = ({ sql, viewer }: Tx, wantsStats = true): ListSource<Agent> => ({
  resource: Agent,
  filters: agentFilters,
  select: selected(sql, wantsStats ? viewer.workspace.currency : undefined),
  fromRow: Agent.fromRow,
})

export const listAgents = (tx: Tx, query: ListQuery): Promise<Page<Agent>> =>
  listPage(tx, agentSource(tx, query.fields?.includes('stats') ?? true), query)

type Place = Pick<Tx, 'sql' | 'workspaceId'>

/** With `statsIn`, the currency of the workspace, the agent's figures come along. */
export async function findAgent(
  { sql, workspaceId }: Place,
  id: string,
  options: { lock?: boolean; statsIn?: string | undefined } = {},
): Promise<Versioned<Agent> | undefined> {
  const [row] = await sql`
    select ${selected(sql, options.statsIn)}, agents.version from agents
    where agents.workspace_id = ${workspaceId} and agents.id = ${id}
    ${options.lock ? sql`for no key update` : nothing(sql)}`
  return row && { record: Agent.fromRow(row), version: row.version }
}

/** The active owners who can sign in. They stay as they are until the transaction ends. */
export async function lockOwners({ sql, workspaceId }: Place): Promise<string[]> {
  const rows = await sql`
    select id from agents where workspace_id = ${workspaceId} and role = 'owner' and status = 'active'
      and account_id is not null
    order by id for no key update`
  return rows.map((row) => row.id)
}

/** The status of an agent, which stays until the transaction ends. */
export async function lockStatus(
  { sql, workspaceId }: Place,
  id: string,
): Promise<Agent['status'] | undefined> {
  const [row] =
    await sql`select status from agents where workspace_id = ${workspaceId} and id = ${id} for share`
  return row?.status
}

export async function hasAccount({ sql, workspaceId }: Place, id: string): Promise<boolean> {
  const [row] = await sql`select account_id from agents where workspace_id = ${workspaceId} and id = ${id}`
  return row?.account_id != null
}

// Figures are counted in the select list, from indexes alone, and only for the rows of the page.
function selected(sql: Sql, statsIn: string | undefined): Fragment {
  const columns = raw(sql, Agent.selectList)
  if (statsIn === undefined) {
    return sql`${columns}, null as stats_active_leads, null as stats_deals_closed, null as stats_total_revenue`
  }
  const closed = sql`from deals
    where deals.workspace_id = agents.workspace_id and deals.agent_id = agents.id and deals.status = 'closed'`
  return sql`${columns},
    (select count(*)::int from leads
      where leads.workspace_id = agents.workspace_id and leads.assigned_agent = agents.id
        and leads.stage in ('new', 'contacted', 'qualified', 'viewing', 'negotiation')) as stats_active_leads,
    (select count(*)::int ${closed}) as stats_deals_closed,
    coalesce((select sum(value) ${closed}
      group by currency order by currency = ${statsIn} desc, sum(value) desc limit 1), 0) as stats_total_revenue`
}

/** Those of the agents who have come to do or own something. */
export async function agentsInUse({ sql, workspaceId }: Place, ids: string[]): Promise<string[]> {
  const rows = await sql`
    select id from agents where workspace_id = ${workspaceId} and id = any(${ids}) and account_id is not null
    union select assigned_agent from leads where workspace_id = ${workspaceId} and assigned_agent = any(${ids})
    union select assigned_agent from units where workspace_id = ${workspaceId} and assigned_agent = any(${ids})
    union select agent_id from deals where workspace_id = ${workspaceId} and agent_id = any(${ids})
    union select created_by from api_keys where workspace_id = ${workspaceId} and created_by = any(${ids})`
  return rows.map((row) => row.id)
}
