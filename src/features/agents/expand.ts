import { requireScopes } from '../../kernel/authorize.ts'
import type { Tx } from '../../kernel/context.ts'
import { maxItems } from '../../kernel/fields.ts'
import { nullableObject } from '../../kernel/schemas.ts'
import { teamBriefs } from '../teams/service.ts'
import type { Agent } from './schema.ts'

const string = { type: 'string' }

export const agentExpansions = {
  team: nullableObject({ id: string, name: string }),
  leads: {
    type: 'array',
    description: `The newest leads assigned to them, at most ${maxItems}; GET …/leads pages through all.`,
    items: {
      type: 'object',
      properties: { id: string, name: string, email: string, stage: string, score: { type: 'integer' } },
      required: ['id', 'name', 'email', 'stage', 'score'],
    },
  },
}

/** Adds the relations asked for: one statement each, whatever the number of agents. */
export async function expandAgents(tx: Tx, agents: Agent[], relations: string[]): Promise<object[]> {
  if (relations.length === 0) return agents
  if (relations.includes('leads')) requireScopes(tx.viewer, ['read:leads'])
  const teamIds = agents.flatMap((agent) => agent.team_id ?? [])
  const [teams, leads] = await Promise.all([
    relations.includes('team') ? teamBriefs(tx, teamIds) : undefined,
    relations.includes('leads') ? leadsOf(tx, agents) : undefined,
  ])
  const teamById = teams && new Map(teams.map((team) => [team.id, team]))
  return agents.map((agent) => ({
    ...agent,
    ...(teamById && { team: teamById.get(agent.team_id ?? '') ?? null }),
    ...(leads && { leads: leads.get(agent.id) ?? [] }),
  }))
}

async function leadsOf({ sql, workspaceId }: Tx, agents: Agent[]): Promise<Map<string, object[]>> {
  const rows = await sql`
    select a.id as agent_id, l.id, l.name, l.email, l.stage, l.score
    from unnest(${agents.map((agent) => agent.id)}::text[]) as a (id)
    cross join lateral (
      select * from leads
      where leads.workspace_id = ${workspaceId} and leads.assigned_agent = a.id
      order by leads.created_at desc, leads.id desc limit ${maxItems}) l`
  const byAgent = Map.groupBy(rows, (row) => row.agent_id as string)
  return new Map(
    [...byAgent].map(([agentId, found]) => [agentId, found.map(({ agent_id: _, ...lead }) => lead)]),
  )
}
