import { requireScopes } from '../../kernel/authorize.ts'
import type { Tx } from '../../kernel/context.ts'
import { nullableObject } from '../../kernel/schemas.ts'
import { agentBriefs } from '../agents/briefs.ts'
import { propertyBriefs } from '../properties/service.ts'
import type { Unit } from './schema.ts'

const string = { type: 'string' }

export const unitExpansions = {
  property: nullableObject({
    id: string,
    name: string,
    location: nullableObject({ area: { type: ['string', 'null'] }, city: string }),
  }),
  agent: nullableObject({ id: string, name: string, email: string }),
}

/** Adds the relations asked for: one statement each, whatever the number of units. */
export async function expandUnits(tx: Tx, units: Unit[], relations: string[]): Promise<object[]> {
  if (relations.length === 0) return units
  if (relations.includes('agent')) requireScopes(tx.viewer, ['read:agents'])
  const [properties, agents] = await Promise.all([
    relations.includes('property')
      ? byId(
          propertyBriefs(
            tx,
            units.map((unit) => unit.property_id),
          ),
        )
      : undefined,
    relations.includes('agent')
      ? byId(
          agentBriefs(
            tx,
            units.flatMap((unit) => unit.assigned_agent ?? []),
          ),
        )
      : undefined,
  ])
  return units.map((unit) => ({
    ...unit,
    ...(properties && { property: properties.get(unit.property_id) ?? null }),
    ...(agents && { agent: agents.get(unit.assigned_agent ?? '') ?? null }),
  }))
}

const byId = async <T extends { id: string }>(found: Promise<T[]>) =>
  new Map((await found).map((record) => [record.id, record]))
