import { requireScopes } from '../../kernel/authorize.ts'
import type { Tx } from '../../kernel/context.ts'
import { nullableObject } from '../../kernel/schemas.ts'
import { agentBriefs } from '../agents/briefs.ts'
import { leadBriefs } from '../leads/service.ts'
import { propertyBriefs } from '../properties/service.ts'
import { unitBriefs } from '../units/service.ts'
import type { Deal } from './schema.ts'

const string = { type: 'string' }
const stringOrNull = { type: ['string', 'null'] }

export const dealExpansions = {
  lead: nullableObject({ id: string, name: string, email: string, stage: string }),
  agent: nullableObject({ id: string, name: string, email: string }),
  unit: nullableObject({
    id: string,
    name: string,
    property_id: string,
    unit_number: stringOrNull,
    status: string,
  }),
  property: nullableObject({
    id: string,
    name: string,
    location: nullableObject({ area: stringOrNull, city: string }),
  }),
}

interface Relation {
  key: 'lead_id' | 'agent_id' | 'unit_id' | 'property_id'
  scope: 'read:leads' | 'read:agents' | 'read:properties'
  find(tx: Tx, ids: string[]): Promise<{ id: string }[]>
}

const relations: Record<string, Relation> = {
  lead: { key: 'lead_id', scope: 'read:leads', find: leadBriefs },
  agent: { key: 'agent_id', scope: 'read:agents', find: agentBriefs },
  unit: { key: 'unit_id', scope: 'read:properties', find: unitBriefs },
  property: { key: 'property_id', scope: 'read:properties', find: propertyBriefs },
}

/** Adds the relations asked for: one statement each, whatever the number of deals. */
export async function expandDeals(tx: Tx, deals: Deal[], names: string[]): Promise<object[]> {
  for (const name of names) requireScopes(tx.viewer, [relations[name]!.scope])
  const found = await Promise.all(
    names.map(async (name) => {
      const { key, find } = relations[name]!
      const records = await find(
        tx,
        deals.flatMap((deal) => deal[key] ?? []),
      )
      return { name, key, byId: new Map(records.map((record) => [record.id, record])) }
    }),
  )
  return deals.map((deal) => ({
    ...deal,
    ...Object.fromEntries(found.map(({ name, key, byId }) => [name, byId.get(deal[key] ?? '') ?? null])),
  }))
}
