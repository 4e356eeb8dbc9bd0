import { Property } from '../src/features/properties/schema.ts'
import { Unit } from '../src/features/units/schema.ts'
import { type Pool, raw } from '../src/kernel/sql.ts'

/** The statements of the bare routes: for reads those of the product, for writes the plain insert or update. */

export const getProperty = (sql: Pool, workspaceId: string, id: string) => sql`
  select ${raw(sql, Property.selectList)},
    (select count(*)::int from units where units.workspace_id = properties.workspace_id
      and units.property_id = properties.id) as units_count,
    (select count(*)::int from units where units.workspace_id = properties.workspace_id
      and units.property_id = properties.id and units.status = 'available') as units_available
  from properties where workspace_id = ${workspaceId} and id = ${id}`

export const listProperties = (sql: Pool, workspaceId: string) => sql`
  select ${raw(sql, Property.selectList)},
    (select count(*)::int from units where units.workspace_id = properties.workspace_id
      and units.property_id = properties.id) as units_count,
    (select count(*)::int from units where units.workspace_id = properties.workspace_id
      and units.property_id = properties.id and units.status = 'available') as units_available,
    (select count(*)::int from (
      select from properties where workspace_id = ${workspaceId} limit 10001) capped) as list_total
  from properties where workspace_id = ${workspaceId}
  order by created_at desc, id desc limit 20`

export const getUnit = (sql: Pool, workspaceId: string, id: string) => sql`
  select ${raw(sql, Unit.selectList)} from units where workspace_id = ${workspaceId} and id = ${id}`

export const listUnitsOf = (sql: Pool, workspaceId: string, propertyId: string) => sql`
  select ${raw(sql, Unit.selectList)},
    (select count(*)::int from (
      select from units where workspace_id = ${workspaceId} and property_id = ${propertyId} limit 10001) capped) as list_total
  from units where workspace_id = ${workspaceId} and property_id = ${propertyId}
  order by created_at desc, id desc limit 20`

// Without a count: the product remembers the total of a list this long, and gets no credit for that here.
export const listUnits = (sql: Pool, workspaceId: string) => sql`
  select ${raw(sql, Unit.selectList)} from units where workspace_id = ${workspaceId}
  order by created_at desc, id desc limit 20`

export const updateProperty = (sql: Pool, workspaceId: string, id: string, maxPrice: number) => sql`
  update properties set pricing_max_price = ${maxPrice}, updated_at = ${new Date()}, version = version + 1
  where workspace_id = ${workspaceId} and id = ${id} returning ${raw(sql, Property.selectList)}`

export const updateUnit = (sql: Pool, workspaceId: string, id: string, amount: number) => sql`
  update units set price_amount = ${amount}, updated_at = ${new Date()}, version = version + 1
  where workspace_id = ${workspaceId} and id = ${id} returning ${raw(sql, Unit.selectList)}`

export interface PropertyBody {
  name: string
  type: string
  status: string
  location: { address: string; area: string; city: string; country: string }
  description: string
  pricing: { currency: string; min_price: number; max_price: number }
  features: string[]
  completion_date: string
}

export function insertProperty(sql: Pool, workspaceId: string, id: string, body: PropertyBody) {
  const now = new Date()
  const { location, pricing } = body
  return sql`
    insert into properties (workspace_id, id, name, type, status, location_address, location_area, location_city,
      location_country, description, pricing_currency, pricing_min_price, pricing_max_price, features,
      completion_date, created_at, updated_at)
    values (${workspaceId}, ${id}, ${body.name}, ${body.type}, ${body.status}, ${location.address},
      ${location.area}, ${location.city}, ${location.country}, ${body.description}, ${pricing.currency},
      ${pricing.min_price}, ${pricing.max_price}, ${body.features}, ${body.completion_date}, ${now}, ${now})
    returning ${raw(sql, Property.selectList)}`
}

export interface UnitBody {
  property_id: string
  name: string
  unit_number: string
  type: string
  bedrooms: number
  bathrooms: number
  size: { interior: number }
  price: { amount: number; currency: string }
  features: string[]
  gallery: string[]
}

export function insertUnit(sql: Pool, workspaceId: string, id: string, body: UnitBody) {
  const now = new Date()
  return sql`
    insert into units (workspace_id, id, property_id, name, unit_number, type, bedrooms, bathrooms, size_interior,
      price_amount, price_currency, features, gallery, created_at, updated_at)
    values (${workspaceId}, ${id}, ${body.property_id}, ${body.name}, ${body.unit_number}, ${body.type},
      ${body.bedrooms}, ${body.bathrooms}, ${body.size.interior}, ${body.price.amount}, ${body.price.currency},
      ${body.features}, ${body.gallery}, ${now}, ${now})
    returning ${raw(sql, Unit.selectList)}`
}
