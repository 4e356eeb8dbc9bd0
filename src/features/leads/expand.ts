import { requireScopes } from '../../kernel/authorize.ts'
import type { Tx } from '../../kernel/context.ts'
import { nullableObject } from '../../kernel/schemas.ts'
import { agentBriefs } from '../agents/briefs.ts'
import { propertyBriefs } from '../properties/service.ts'
import { unitBriefs } from '../units/service.ts'
import type { Lead } from './schema.ts'

const string = { type: 'string' }

export const leadExpansions = {
  agent: nullableObject({ id: string, name: string, email: string }),
  properties: {
    type: 'array',
    description: 'The properties and units of `interested_properties` that are still there to be seen.',
    items: { type: 'object', properties: { id: string, name: string }, required: ['id', 'name'] },
  },
}

/** Adds the relations asked for: one statement for each kind of record, whatever the number of leads. */
export async function expandLeads(tx: Tx, leads: Lead[], relations: string[]): Promise<object[]> {
  if (relations.length === 0) return leads
  const wants = { agent: relations.includes('agent'), properties: relations.includes('properties') }
  if (wants.agent) requireScopes(tx.viewer, ['read:agents'])
  if (wants.properties) requireScopes(tx.viewer, ['read:properties'])
  const wanted = leads.flatMap((lead) => lead.interested_properties)
  const [agents, properties, units] = await Promise.all([
    wants.agent
      ? agentBriefs(
          tx,
          leads.flatMap((lead) => lead.assigned_agent ?? []),
        )
      : [],
    wants.properties ? propertyBriefs(tx, wanted) : [],
    wants.properties ? unitBriefs(tx, wanted) : [],
  ])
  const agentById = new Map(agents.map((agent) => [agent.id, agent]))
  const thingById = new Map<string, object>([...properties, ...units].map((thing) => [thing.id, thing]))
  return leads.map((lead) => ({
    ...lead,
    ...(wants.agent && { agent: agentById.get(lead.assigned_agent ?? '') ?? null }),
    ...(wants.properties && {
      properties: lead.interested_properties.flatMap((id) => thingById.get(id) ?? []),
    }),
  }))
}
