import type { Workspace } from '../../kernel/context.ts'
import { newId } from '../../kernel/ids.ts'
import type { Sql } from '../../kernel/sql.ts'
import { type DemoAgent, demoAgents, demoTeams } from './people.ts'

export interface PlacedAgent extends DemoAgent {
  id: string
}

/** Teams and agents of the demo. A sandbox keeps its people at a reset, so whoever is there already stays. */
export async function placeAgents(sql: Sql, workspace: Workspace, since: Date): Promise<PlacedAgent[]> {
  const teams = await placeTeams(sql, workspace, since)
  const rows = demoAgents.map((agent) => ({
    workspace_id: workspace.id,
    id: newId('agent', since),
    email: agent.email,
    name: agent.name,
    role: agent.role,
    status: 'active',
    profile_languages: agent.languages,
    team_id: teams.get(agent.team)!,
    commission_tier: agent.tier,
    commission_rate: agent.rate,
    created_at: since,
    updated_at: since,
  }))
  await sql`insert into agents ${sql(rows as never)} on conflict do nothing`
  const there = await sql`
    select id, email from agents
    where workspace_id = ${workspace.id} and email = any(${demoAgents.map(({ email }) => email)})`
  const ids = new Map(there.map((row) => [row.email as string, row.id as string]))
  return demoAgents.map((agent) => ({ ...agent, id: ids.get(agent.email)! }))
}

async function placeTeams(sql: Sql, workspace: Workspace, since: Date): Promise<Map<string, string>> {
  const there = await sql`
    select id, name from teams where workspace_id = ${workspace.id} and name = any(${[...demoTeams]})`
  const ids = new Map(there.map((row) => [row.name as string, row.id as string]))
  for (const name of demoTeams.filter((team) => !ids.has(team))) {
    const id = newId('team', since)
    await sql`
      insert into teams (workspace_id, id, name, created_at, updated_at)
      values (${workspace.id}, ${id}, ${name}, ${since}, ${since})`
    ids.set(name, id)
  }
  return ids
}
