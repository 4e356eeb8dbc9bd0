import { changeEvent, type Event, event } from '../../events/catalog.ts'
import { createRecord, updateRecord, type Versioned } from '../../events/change.ts'
import type { Tx } from '../../kernel/context.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { deleteUnit, findUnit } from './queries.ts'
import { Unit, type UnitCreate, type UnitUpdate } from './schema.ts'

export { listUnits } from './queries.ts'

export async function getUnit(tx: Tx, id: string): Promise<Versioned<Unit>> {
  const found = isId('unit', id) ? await findUnit(tx, id) : undefined
  if (!found) throw notFound('unit')
  return found
}

export async function createUnit(tx: Tx, body: UnitCreate): Promise<Versioned<Unit>> {
  const now = tx.now.toISOString()
  const system = { id: tx.newId('unit'), created_at: now, updated_at: now }
  const { record, problems } = Unit.complete(body, system, tx.viewer.workspace)
  if (problems.length > 0) throw invalid(problems)
  await createRecord(tx, Unit, record, [event('unit.created', record)])
  return { record, version: 1 }
}

export async function updateUnit(
  tx: Tx,
  id: string,
  patch: UnitUpdate,
  ifMatch: string | undefined,
): Promise<Versioned<Unit>> {
  if (!isId('unit', id)) throw notFound('unit')
  return updateRecord(tx, {
    resource: Unit,
    find: (tx, lock) => findUnit(tx, id, lock),
    patch,
    ifMatch,
    defaults: tx.viewer.workspace,
    events: unitChangeEvents,
  })
}

/** What any change of a unit tells, by whichever way it came about. */
export const unitChangeEvents = (after: Unit, previous: Partial<Unit>): Event[] => [
  changeEvent('unit.updated', after, previous),
  ...('status' in previous && after.status === 'sold'
    ? [changeEvent('unit.sold', after, { status: previous.status } as Partial<Unit>)]
    : []),
]

export async function removeUnit(tx: Tx, id: string): Promise<void> {
  const removed = isId('unit', id) && (await deleteUnit(tx, id))
  if (!removed) throw notFound('unit')
}
