import { type Batch, idsIn } from '../../events/batch.ts'
import { changeEvent, type Event, event } from '../../events/catalog.ts'
import { changeRecord, createRecord, updateRecord, type Versioned } from '../../events/change.ts'
import type { Tx } from '../../kernel/context.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { deleteUnit, findUnit, holdPropertyOf, lockAnyUnit } from './queries.ts'
import { Unit, type UnitCreate, type UnitUpdate } from './schema.ts'

export { listUnits, type UnitBrief, unitBriefs, unitFilters, unitSource } from './queries.ts'

export const unitBatch: Batch<Unit> = {
  resource: Unit,
  references: { property_id: idsIn('properties'), assigned_agent: idsIn('agents') },
  unique: { external_id: 'exact' },
  events: (unit) => [event('unit.created', unit)],
}

export async function getUnit(tx: Tx, id: string): Promise<Versioned<Unit>> {
  const found = isId('unit', id) ? await findUnit(tx, id) : undefined
  if (!found) throw notFound('unit')
  return found
}

/** The whole unit that a body stands for, not yet written. */
export function newUnit(tx: Tx, body: UnitCreate) {
  const now = tx.now.toISOString()
  const system = { id: tx.newId('unit'), created_at: now, updated_at: now }
  return Unit.complete(body, system, tx.viewer.workspace)
}

export async function createUnit(tx: Tx, body: UnitCreate): Promise<Versioned<Unit>> {
  const { record, problems } = newUnit(tx, body)
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

/** A unit that the caller may see and nobody else changes until the transaction ends. */
export async function lockUnit(tx: Tx, id: string): Promise<Unit | undefined> {
  if (!isId('unit', id)) return undefined
  await holdPropertyOf(tx, id)
  return (await findUnit(tx, id, true))?.record
}

/** Moves a unit along with its deal, in the transaction given and whatever the caller may see of it. */
export async function setUnitStatus(tx: Tx, id: string, status: Unit['status']): Promise<void> {
  const found = await lockAnyUnit(tx, id)
  if (!found || found.record.status === status) return
  const previous = { status: found.record.status }
  await changeRecord(
    tx,
    Unit,
    found,
    { ...found.record, status },
    {
      events: (after) => unitChangeEvents(after, previous),
    },
  )
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
