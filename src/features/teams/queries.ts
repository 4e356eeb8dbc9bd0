import type { Versioned } from '../../events/change.ts'
import type { Tx } from '../../kernel/context.ts'
import { contains, type Filters } from '../../kernel/filters.ts'
import { type ListSource, listPage, type Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { type Fragment, nothing, raw } from '../../kernel/sql.ts'
import { Team } from './schema.ts'

export const teamFilters: Filters = {
  search: contains([Team.column('name')], 'Only teams with this in their name, whatever the case.'),
}

/** Teams for lists and exports. */
export const teamSource = (tx: Tx): ListSource<Team> => ({
  resource: Team,
  filters: teamFilters,
  select: selected(tx),
  fromRow: Team.fromRow,
})

export const listTeams = (tx: Tx, query: ListQuery): Promise<Page<Team>> =>
  listPage(tx, teamSource(tx), query)

export async function findTeam(tx: Tx, id: string, lock = false): Promise<Versioned<Team> | undefined> {
  const { sql } = tx
  const [row] = await sql`
    select ${selected(tx)}, teams.version from teams
    where teams.workspace_id = ${tx.workspaceId} and teams.id = ${id}
    ${lock ? sql`for update` : nothing(sql)}`
  return row && { record: Team.fromRow(row), version: row.version }
}

/** Those of the teams that have agents. */
export async function teamsWithAgents({ sql, workspaceId }: Tx, ids: string[]): Promise<string[]> {
  const rows = await sql`
    select distinct team_id as id from agents where workspace_id = ${workspaceId} and team_id = any(${ids})`
  return rows.map((row) => row.id)
}

/** What an agent shows of their team. */
export interface TeamBrief {
  id: string
  name: string
}

export const teamBriefs = ({ sql, workspaceId }: Tx, ids: string[]): Promise<TeamBrief[]> =>
  sql<TeamBrief[]>`select id, name from teams where workspace_id = ${workspaceId} and id = any(${ids})`

const selected = ({ sql }: Tx): Fragment => sql`${raw(sql, Team.selectList)}, (
  select count(*)::int from agents
  where agents.workspace_id = teams.workspace_id and agents.team_id = teams.id
    and agents.status <> 'inactive') as agents_count`
