import { joinDatabase } from '../src/infra/open-database.ts'
import { customisable } from '../src/kernel/limits/plans.ts'
import type { Pool } from '../src/kernel/sql.ts'

/** What the measurements run on: one workspace with 200 properties and 20,000 units. */
export interface BenchData {
  workspaceId: string
  propertyIds: string[]
  unitIds: string[]
}

const properties = 200
const unitsEach = 100

// A load is what the limits are there to stop; the workspace under measurement has none worth the name.
const generousLimits = Object.fromEntries(customisable.map((window) => [window, 1_000_000_000]))

export const openBenchDatabase = (dataDir: string) =>
  joinDatabase({ databaseUrl: undefined, dataDir, pool: 2, log: () => {} })

export async function fill(sql: Pool): Promise<BenchData> {
  const [workspace] = await sql`
    update workspaces set custom_limits = ${sql.json(generousLimits)}
    where environment = 'production' returning id`
  const workspaceId: string = workspace!.id
  await sql`
    insert into properties (workspace_id, id, name, type, status, location_address, location_area, location_city,
      location_country, location_coordinates_lat, location_coordinates_lng, description, media_cover, media_gallery,
      pricing_currency, pricing_min_price, pricing_max_price, features, completion_date, created_at, updated_at)
    select ${workspaceId}, 'prop_bench' || lpad(n::text, 16, '0'), 'Marina Heights ' || n, 'apartment',
      'under_construction', n || ' Harbour Road', 'Marina', 'Dubai', 'AE', 25.0805, 55.1403,
      'Two towers on the waterfront, ten minutes from the old port.', 'https://cdn.example.com/marina/cover.jpg',
      array['https://cdn.example.com/marina/1.jpg', 'https://cdn.example.com/marina/2.jpg'],
      'EUR', 250000, 1200000, array['pool', 'gym'], '2027-06-30', t, t
    from generate_series(1, ${properties}) n, lateral (select now() - n * interval '1 minute' as t) times`
  await sql`
    insert into units (workspace_id, id, property_id, name, unit_number, type, status, bedrooms, bathrooms,
      size_interior, size_unit, price_amount, price_currency, features, floor_plan, gallery, visibility,
      created_at, updated_at)
    select ${workspaceId}, 'unit_bench' || lpad(n::text, 16, '0'),
      'prop_bench' || lpad((1 + n % ${properties})::text, 16, '0'), 'Tower A, unit ' || n, 'A-' || n,
      '2BR Apartment', (array['available', 'reserved', 'sold'])[1 + n % 3]::unit_status, 2, 2.5, 96.5, 'sqm',
      420000 + n, 'EUR', array['balcony', 'sea_view'], 'https://cdn.example.com/marina/plan.pdf',
      array['https://cdn.example.com/marina/a/1.jpg'], 'agents', t, t
    from generate_series(1, ${properties * unitsEach}) n, lateral (select now() - n * interval '1 second' as t) times`
  await sql`vacuum analyze`
  return {
    workspaceId,
    propertyIds: await idsOf(sql, 'properties'),
    unitIds: await idsOf(sql, 'units'),
  }
}

const idsOf = async (sql: Pool, table: string): Promise<string[]> =>
  (await sql`select id from ${sql(table)} where id like '%bench%' order by id`).map((row) => row.id)
