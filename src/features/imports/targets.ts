import { notFound } from '../../kernel/errors.ts'
import { Property, type PropertyCreate } from '../properties/schema.ts'
import { newProperty, propertiesWithUnits, propertyBatch, updateProperty } from '../properties/service.ts'
import { Unit, type UnitCreate } from '../units/schema.ts'
import { newUnit, unitBatch, updateUnit } from '../units/service.ts'
import { visibleUnits } from '../visibility/units.ts'
import { agentKind, type ImportResource, propertyKind, type Restored, type Target } from './target.ts'

const dated = ['id', 'created_at', 'updated_at']
const nothing = async () => []

const properties: Target = {
  resource: Property,
  scope: 'write:properties',
  onDuplicate: 'skip',
  restores: dated,
  references: {},
  complete: (tx, body, restored) => completed(newProperty(tx, body as PropertyCreate), restored),
  batch: propertyBatch as never,
  update: (tx, id, patch) => updateProperty(tx, id, patch, undefined),
  inUse: propertiesWithUnits,
}

const units: Target = {
  resource: Unit,
  scope: 'write:properties',
  onDuplicate: 'skip',
  restores: dated,
  sameWhen: { fields: ['property_id', 'unit_number'] },
  references: { property_id: [propertyKind], assigned_agent: [agentKind] },
  visible: visibleUnits,
  complete: (tx, body, restored) => completed(newUnit(tx, body as UnitCreate), restored),
  batch: unitBatch as never,
  update: (tx, id, patch) => updateUnit(tx, id, patch, undefined),
  inUse: nothing,
}

/** Everything that can be imported. */
export const targets: Partial<Record<ImportResource, Target>> = { properties, units }

export function targetOf(resource: ImportResource): Target {
  const target = targets[resource]
  if (!target) throw notFound('import')
  return target
}

function completed<R extends object, P>(
  { record, problems }: { record: R; problems: P },
  restored: Restored,
): { record: R & { id: string }; problems: P } {
  return { record: { ...record, ...restored } as R & { id: string }, problems }
}
