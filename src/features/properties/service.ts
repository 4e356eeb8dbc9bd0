import type { Batch } from '../../events/batch.ts'
import { changeEvent, event } from '../../events/catalog.ts'
import { createRecord, updateRecord, type Versioned } from '../../events/change.ts'
import { isAdmin } from '../../kernel/authorize.ts'
import type { Tx } from '../../kernel/context.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { deleteProperty, findProperty } from './queries.ts'
import { Property, type PropertyCreate, type PropertyUpdate } from './schema.ts'

export {
  listProperties,
  type PropertyBrief,
  propertiesWithUnits,
  propertyBriefs,
  propertyFilters,
  propertySource,
} from './queries.ts'

export const propertyBatch: Batch<Property> = {
  resource: Property,
  references: {},
  unique: { external_id: 'exact' },
  events: (property) => [event('property.created', property)],
}

export async function getProperty(tx: Tx, id: string): Promise<Versioned<Property>> {
  const found = isId('prop', id) ? await findProperty(tx, id) : undefined
  if (!found) throw notFound('property')
  return found
}

export async function findPropertyOf(tx: Tx, id: string): Promise<Property | undefined> {
  return isId('prop', id) ? (await findProperty(tx, id))?.record : undefined
}

/** The whole property that a body stands for, not yet written. */
export function newProperty(tx: Tx, body: PropertyCreate) {
  const now = tx.now.toISOString()
  const system = {
    id: tx.newId('prop'),
    units_count: 0,
    units_available: 0,
    created_at: now,
    updated_at: now,
  }
  return Property.complete(body, system, tx.viewer.workspace)
}

export async function createProperty(tx: Tx, body: PropertyCreate): Promise<Versioned<Property>> {
  const { record, problems } = newProperty(tx, body)
  if (problems.length > 0) throw invalid(problems)
  await createRecord(tx, Property, record, [event('property.created', record)])
  return { record, version: 1 }
}

export async function updateProperty(
  tx: Tx,
  id: string,
  patch: PropertyUpdate,
  ifMatch: string | undefined,
): Promise<Versioned<Property>> {
  if (!isId('prop', id)) throw notFound('property')
  const updated = await updateRecord(tx, {
    resource: Property,
    // Events go to subscribers, not to the caller: they tell of all units.
    find: (tx, lock) => findProperty(tx, id, { lock, countAllUnits: true }),
    patch,
    ifMatch,
    defaults: tx.viewer.workspace,
    events: (after, previous) => [
      changeEvent('property.updated', after, previous),
      ...('status' in previous
        ? [changeEvent('property.status_changed', after, { status: previous.status })]
        : []),
    ],
  })
  return isAdmin(tx.viewer) ? updated : getProperty(tx, id)
}

export async function removeProperty(tx: Tx, id: string): Promise<void> {
  const removed = isId('prop', id) && (await deleteProperty(tx, id))
  if (!removed) throw notFound('property')
}
