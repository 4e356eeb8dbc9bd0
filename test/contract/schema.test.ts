import { describe, expect, it } from 'vitest'
import { resources } from '../../src/features/index.ts'
import type { Field, Fields } from '../../src/kernel/fields.ts'
import type { Column } from '../../src/kernel/resource.ts'
import { useHarness } from '../harness.ts'

/** The declarations of the resources and the tables in the database say the same. */

const harness = useHarness()

interface TableColumn {
  name: string
  type: string
  udt: string
  nullable: boolean
  precision: number | null
  scale: number | null
  fraction: number | null
}

/** Columns that the API does not show, besides workspace_id. */
const hidden: Record<string, string[]> = {
  agents: ['account_id'],
  api_keys: ['token_hash', 'bootstrap'],
  deals: ['held_property', 'held_unit'],
  lead_activity: ['agent_id', 'contact', 'since'],
  leads: ['score_falls_at', 'search_text'],
  oauth_clients: ['secret_hash', 'created_by'],
  webhooks: ['host', 'sealed_secret', 'sealed_previous_secret', 'previous_secret_until'],
  deliveries: ['due_at', 'step', 'resume_at', 'claim', 'leased_until'],
}
/** Records that no caller changes, but for revoking them, have no version. */
const unversioned = [
  'api_keys',
  'oauth_clients',
  'lead_activity',
  'lead_notes',
  'invoices',
  'deliveries',
  'events',
]
/** Columns that have no value until the API shows the row. */
const filledLater: Record<string, string[]> = { deliveries: ['status', 'timestamp'], events: ['sequence'] }

async function columnsOf(table: string): Promise<Map<string, TableColumn>> {
  const rows = await harness.sql<TableColumn[]>`
    select column_name as name, data_type as type, udt_name as udt, is_nullable = 'YES' as nullable,
      numeric_precision as precision, numeric_scale as scale, datetime_precision as fraction
    from information_schema.columns where table_schema = 'public' and table_name = ${table}`
  return new Map(rows.map((row) => [row.name, row]))
}

async function labelsOf(type: string): Promise<string[]> {
  const rows = await harness.sql`
    select enumlabel as label from pg_enum where enumtypid = ${type}::regtype order by enumsortorder`
  return rows.map((row) => row.label)
}

const hasValue = ({ marks }: Field) => Boolean(marks.required || marks.always || marks.default !== undefined)

/** A column may be null when its field, or a group around it, may be. */
function isNullable(fields: Fields, path: readonly string[]): boolean {
  const [first, ...rest] = path
  const field = fields[first!]!
  if (!hasValue(field)) return true
  return field.is === 'group' && isNullable(field.fields, rest)
}

const plainTypes = [
  'text',
  'numeric',
  'integer',
  'bigint',
  'date',
  'timestamp with time zone',
  'boolean',
  'json',
  'jsonb',
]

function expectType(pg: string, column: TableColumn): void {
  if (pg.endsWith('[]')) {
    expect(column).toMatchObject({ type: 'ARRAY', udt: `_${pg.slice(0, -2)}` })
  } else if (plainTypes.includes(pg)) expect(column.type, column.name).toBe(pg)
  else expect(column, column.name).toMatchObject({ type: 'USER-DEFINED', udt: pg })
}

const isChoice = ({ leaf }: Column) => leaf.schema.enum && !plainTypes.includes(leaf.pg)

describe.each(resources)('$plural', (resource) => {
  it('have a column of the right type for every field', async () => {
    const columns = await columnsOf(resource.table)
    expect(resource.stored.length).toBeGreaterThan(0)
    for (const { name, leaf } of resource.stored) {
      const column = columns.get(name)
      expect(column, `${resource.table} has no column ${name}`).toBeDefined()
      expectType(leaf.pg, column!)
      // The API shows milliseconds; finer times would make cursors skip rows.
      if (leaf.pg === 'timestamp with time zone') expect(column!.fraction, name).toBe(3)
    }
  })

  it('have the choices of the database, in the same order', async () => {
    for (const { name, leaf } of resource.stored.filter(isChoice))
      expect(await labelsOf(leaf.pg), name).toEqual(leaf.schema.enum)
  })

  it('may be null exactly where a field may be', async () => {
    const columns = await columnsOf(resource.table)
    const later = filledLater[resource.table] ?? []
    for (const { name, path } of resource.stored.filter((column) => !later.includes(column.name)))
      expect(columns.get(name)!.nullable, name).toBe(isNullable(resource.fields, path))
  })

  it('have room for every number that is accepted', async () => {
    const columns = await columnsOf(resource.table)
    for (const { name, leaf } of resource.stored.filter((column) => column.leaf.pg === 'numeric')) {
      const { precision, scale } = columns.get(name)!
      if (precision === null || scale === null) continue
      const { maximum, minimum, format } = leaf.schema as Record<string, number | string>
      const largest = Math.max(Math.abs(Number(maximum)), Math.abs(Number(minimum)))
      expect(10 ** (precision - scale), `${name} is too narrow`).toBeGreaterThan(largest)
      expect(scale, `${name} drops decimals`).toBeGreaterThanOrEqual(format === 'two-decimals' ? 2 : 6)
    }
  })

  it('declare every column of their table', async () => {
    const declared = resource.stored.map(({ name }) => name)
    const version = unversioned.includes(resource.table) ? [] : ['version']
    const expected = new Set([...declared, 'workspace_id', ...version, ...(hidden[resource.table] ?? [])])
    expect([...(await columnsOf(resource.table)).keys()].sort()).toEqual([...expected].sort())
  })
})

describe('tables that belong to a workspace', () => {
  const tenantTables = async (): Promise<string[]> => {
    const rows = await harness.sql`
      select c.table_name as name from information_schema.columns c
      join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and c.column_name = 'workspace_id' and t.table_type = 'BASE TABLE'`
    return rows.map((row) => row.name)
  }

  it('are found, those of the resources among them', async () => {
    expect(await tenantTables()).toEqual(expect.arrayContaining(resources.map(({ table }) => table)))
  })

  it('begin their primary key with workspace_id', async () => {
    const rows = await harness.sql`
      select con.conrelid::regclass::text as name, att.attname as first
      from pg_constraint con
      join pg_attribute att on att.attrelid = con.conrelid and att.attnum = con.conkey[1]
      where con.contype = 'p' and con.connamespace = 'public'::regnamespace`
    const first = new Map(rows.map((row) => [row.name, row.first]))
    for (const table of await tenantTables()) expect(first.get(table), table).toBe('workspace_id')
  })

  it('carry workspace_id along in every reference between them', async () => {
    const tables = await tenantTables()
    const rows = await harness.sql`
      select con.conname as name, con.conrelid::regclass::text as source, con.confrelid::regclass::text as target,
        array(select format('%s = %s', a.attname, b.attname)
          from unnest(con.conkey, con.confkey) as k (a, b)
          join pg_attribute a on a.attrelid = con.conrelid and a.attnum = k.a
          join pg_attribute b on b.attrelid = con.confrelid and b.attnum = k.b) as pairs
      from pg_constraint con where con.contype = 'f' and con.connamespace = 'public'::regnamespace`
    const between = rows.filter((row) => tables.includes(row.source) && tables.includes(row.target))
    expect(between.length).toBeGreaterThan(0)
    for (const { name, pairs } of between) expect(pairs, name).toContain('workspace_id = workspace_id')
  })
})
