import type { Sql } from '../../kernel/sql.ts'

/** What a reset leaves alone: who there is, what they get in with, and whom they want to be told. */
export const keptTables = [
  'agents',
  'invitations',
  'teams',
  'api_keys',
  'oauth_clients',
  'webhooks',
  // Numbers of events go on, or whoever follows them would wait for ever.
  'event_sequences',
]

/**
 * Every other table with a workspace, those that point to others first. Read from the database, so that
 * a table that is added later is not forgotten.
 */
export async function businessTables(sql: Sql): Promise<string[]> {
  const tables = await sql<{ name: string; needs: string[] }[]>`
    select c.relname as name, coalesce(array_agg(distinct target.relname) filter (where target.relname is not null), '{}') as needs
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
    left join pg_constraint k on k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid
    left join pg_class target on target.oid = k.confrelid
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
      and not (c.relname = any(${keptTables}))
    group by c.relname order by c.relname`
  return childrenFirst(tables)
}

function childrenFirst(tables: readonly { name: string; needs: string[] }[]): string[] {
  const names = new Set(tables.map(({ name }) => name))
  const ordered: string[] = []
  const visit = (table: { name: string; needs: string[] }) => {
    if (!names.delete(table.name)) return
    for (const other of tables) if (other.needs.includes(table.name)) visit(other)
    ordered.push(table.name)
  }
  for (const table of tables) visit(table)
  return ordered
}
