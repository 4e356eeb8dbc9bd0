import type { Versioned } from '../../events/change.ts'
import type { Tx } from '../../kernel/context.ts'
import { anyOf, atLeast, atMost, equalsNumber, equalsText, type Filters } from '../../kernel/filters.ts'
import { type ListSource, listPage, type Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { nothing, raw } from '../../kernel/sql.ts'
import { unitSight, unitVisibilities, visibleUnits } from '../visibility/units.ts'
import { Unit, unitStatuses } from './schema.ts'

export const unitFilters: Filters = {
  property_id: equalsText(Unit.column('property_id'), 'Only units of this property.'),
  status: anyOf(Unit.column('status'), 'unit_status', unitStatuses, 'Only units with this status.'),
  visibility: anyOf(
    Unit.column('visibility'),
    'unit_visibility',
    unitVisibilities,
    'Only units with this visibility.',
  ),
  agent_id: equalsText(Unit.column('assigned_agent'), 'Only units assigned to this agent.'),
  min_price: atLeast(Unit.column('price.amount'), 'Only units that cost this much or more.'),
  max_price: atMost(Unit.column('price.amount'), 'Only units that cost this much or less.'),
  bedrooms: equalsNumber(Unit.column('bedrooms'), 'Only units with exactly this many bedrooms.'),
  min_size: atLeast(Unit.column('size.interior'), 'Only units with an interior of this size or more.'),
  external_id: equalsText(Unit.column('external_id'), 'Only the unit with this external id.'),
}

/** The units that the caller may see, for lists and exports. */
export function unitSource(tx: Tx): ListSource<Unit> {
  const visible = visibleUnits(tx)
  return {
    resource: Unit,
    filters: unitFilters,
    select: raw(tx.sql, Unit.selectList),
    where: visible ? [visible] : [],
    seenBy: unitSight(tx.viewer),
    fromRow: Unit.fromRow,
  }
}

export const listUnits = (tx: Tx, query: ListQuery): Promise<Page<Unit>> =>
  listPage(tx, unitSource(tx), query)

/** A unit that the caller may see. */
export async function findUnit(tx: Tx, id: string, lock = false): Promise<Versioned<Unit> | undefined> {
  const { sql } = tx
  const visible = visibleUnits(tx)
  const [row] = await sql`
    select ${raw(sql, Unit.selectList)}, units.version from units
    where units.workspace_id = ${tx.workspaceId} and units.id = ${id}
    ${visible ? sql`and ${visible}` : nothing(sql)}
    ${raw(sql, lock ? 'for update' : '')}`
  return row && { record: Unit.fromRow(row), version: row.version }
}

/**
 * Keeps the property of a unit from being deleted until the transaction ends. To be called before the
 * unit is locked: a delete takes the property first and then its units.
 */
export async function holdPropertyOf({ sql, workspaceId }: Tx, unitId: string): Promise<void> {
  await sql`
    select from properties where workspace_id = ${workspaceId}
      and id = (select property_id from units where workspace_id = ${workspaceId} and id = ${unitId})
    for key share`
}

/** A unit whoever may see it, for changes that the service makes by itself. */
export async function lockAnyUnit(tx: Tx, id: string): Promise<Versioned<Unit> | undefined> {
  const { sql } = tx
  const [row] = await sql`
    select ${raw(sql, Unit.selectList)}, units.version from units
    where units.workspace_id = ${tx.workspaceId} and units.id = ${id} for update`
  return row && { record: Unit.fromRow(row), version: row.version }
}

/** Those of the units that the caller may see. Locked in the order of their ids, so that no two callers wait for each other. */
export async function findUnits(tx: Tx, ids: string[], options: { lock: boolean }): Promise<Unit[]> {
  const { sql } = tx
  const visible = visibleUnits(tx)
  const rows = await sql`
    select ${raw(sql, Unit.selectList)} from units
    where units.workspace_id = ${tx.workspaceId} and units.id = any(${ids})
    ${visible ? sql`and ${visible}` : sql``}
    order by units.id
    ${options.lock ? sql`for update of units` : sql``}`
  return rows.map(Unit.fromRow)
}

export async function deleteUnit(tx: Tx, id: string): Promise<boolean> {
  const { sql } = tx
  const visible = visibleUnits(tx)
  const rows = await sql`
    delete from units where units.workspace_id = ${tx.workspaceId} and units.id = ${id}
    ${visible ? sql`and ${visible}` : nothing(sql)} returning 1`
  return rows.length > 0
}

/** What other records show of a unit, where the caller may see it. */
export interface UnitBrief {
  id: string
  name: string
  property_id: string
  unit_number: string | null
  status: Unit['status']
}

export async function unitBriefs(tx: Tx, ids: string[]): Promise<UnitBrief[]> {
  const { sql } = tx
  const visible = visibleUnits(tx)
  return sql<UnitBrief[]>`
    select id, name, property_id, unit_number, status from units
    where units.workspace_id = ${tx.workspaceId} and units.id = any(${ids})
    ${visible ? sql`and ${visible}` : nothing(sql)}`
}
