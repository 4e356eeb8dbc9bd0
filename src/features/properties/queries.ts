import type { Versioned } from '../../events/change.ts'
import type { Tx } from '../../kernel/context.ts'
import { anyOf, equalsText, type Filter, type Filters, sameText } from '../../kernel/filters.ts'
import { type ListSource, listPage, type Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { numberParam } from '../../kernel/query.ts'
import { type Fragment, nothing, raw } from '../../kernel/sql.ts'
import { unitSight, visibleUnits } from '../visibility/units.ts'
import { Property, propertyStatuses, propertyTypes } from './schema.ts'

// A property without prices matches no price filter: nothing is known of its range.
const priceFrom: Filter<number> = {
  param: numberParam('Only properties with a price range that reaches this amount or more.', { min: 0 }),
  where: (sql, price) =>
    sql`coalesce(properties.pricing_max_price, properties.pricing_min_price) >= ${price}`,
}
const priceTo: Filter<number> = {
  param: numberParam('Only properties with a price range that begins at this amount or less.', { min: 0 }),
  where: (sql, price) =>
    sql`coalesce(properties.pricing_min_price, properties.pricing_max_price) <= ${price}`,
}

export const propertyFilters: Filters = {
  status: anyOf(
    Property.column('status'),
    'property_status',
    propertyStatuses,
    'Only properties with this status.',
  ),
  type: anyOf(Property.column('type'), 'property_type', propertyTypes, 'Only properties of this type.'),
  location: sameText(
    [Property.column('location.area'), Property.column('location.city')],
    'Only properties whose area or city is this, whatever the case.',
  ),
  min_price: priceFrom,
  max_price: priceTo,
  external_id: equalsText(Property.column('external_id'), 'Only the property with this external id.'),
}

/** Properties with the counts of what the caller may see, for lists and exports. */
export const propertySource = (tx: Tx): ListSource<Property> => ({
  resource: Property,
  filters: propertyFilters,
  select: selected(tx, visibleUnits(tx)),
  seenBy: unitSight(tx.viewer),
  fromRow: Property.fromRow,
})

export const listProperties = (tx: Tx, query: ListQuery): Promise<Page<Property>> =>
  listPage(tx, propertySource(tx), query)

export async function findProperty(
  tx: Tx,
  id: string,
  options: { lock?: boolean; countAllUnits?: boolean } = {},
): Promise<Versioned<Property> | undefined> {
  const { sql } = tx
  const [row] = await sql`
    select ${selected(tx, options.countAllUnits ? undefined : visibleUnits(tx))}, properties.version
    from properties
    where properties.workspace_id = ${tx.workspaceId} and properties.id = ${id}
    ${raw(sql, options.lock ? 'for update' : '')}`
  return row && { record: Property.fromRow(row), version: row.version }
}

/** Deletes the property and, by the reference between them, its units. */
export async function deleteProperty({ sql, workspaceId }: Tx, id: string): Promise<boolean> {
  const rows =
    await sql`delete from properties where workspace_id = ${workspaceId} and id = ${id} returning 1`
  return rows.length > 0
}

/** Those of the properties that have units. */
export async function propertiesWithUnits({ sql, workspaceId }: Tx, ids: string[]): Promise<string[]> {
  const rows = await sql`
    select distinct property_id as id from units
    where workspace_id = ${workspaceId} and property_id = any(${ids})`
  return rows.map((row) => row.id)
}

/** What a unit shows of its property. */
export async function propertyBriefs({ sql, workspaceId }: Tx, ids: string[]): Promise<PropertyBrief[]> {
  const rows = await sql`
    select id, name, location_area as area, location_city as city from properties
    where workspace_id = ${workspaceId} and id = any(${ids})`
  return rows.map(({ id, name, area, city }) => ({ id, name, location: { area, city } }))
}

export interface PropertyBrief {
  id: string
  name: string
  location: { area: string | null; city: string }
}

const countUnits = `(
  select count(*)::int from units
  where units.workspace_id = properties.workspace_id and units.property_id = properties.id`

// Counted in the select list, not joined: PostgreSQL then counts for the rows of the page alone, after the sort.
function selected({ sql }: Tx, visible: Fragment | undefined): Fragment {
  const seen = visible ? sql`and ${visible}` : nothing(sql)
  return sql`${raw(sql, Property.selectList)},
    ${raw(sql, countUnits)} ${seen}) as units_count,
    ${raw(sql, countUnits)} ${seen} and units.status = 'available') as units_available`
}
