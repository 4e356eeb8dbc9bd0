import type { Versioned } from '../../events/change.ts'
import type { Tx } from '../../kernel/context.ts'
import { contains, type Filters } from '../../kernel/filters.ts'
import { listPage, type Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { type Fragment, raw } from '../../kernel/sql.ts'
import { Team } from './schema.ts'

export const teamFilters: Filters = {
  search: contains([Team.column('name')], 'Only teams with this in their name, whatever the case.'),
}

export function listTeams(tx: Tx, query: ListQuery): Promise<Page<Team>> {
  return listPage(
    tx,
    { resource: Team, filters: teamFilters, select: selected(tx), fromRow: Team.fromRow },
    query,
  )
}

export async function findTeam(tx: Tx, id: string, lock = false): Promise<Versioned<Team> | undefined> {
  const { sql } = tx
  const [row] = await sql`
    select ${selected(tx)}, teams.version from teams
    where teams.workspace_id = ${tx.workspaceId} and teams.id = ${id}
    ${lock ? sql`for update` : sql``}`
  return row && { record: Team.fromRow(row), version: row.version }
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
