import type { Harness } from '../harness.ts'

/**
 * A digest of every row of every table: two that are equal mean that nothing was written in between. Left
 * out is what is written by the minute of any request: counts, and when somebody was last seen.
 */
export async function snapshot({ sql }: Harness): Promise<Record<string, string>> {
  const tables = await sql`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like '%usage%' order by 1`
  const digests: Record<string, string> = {}
  for (const { name } of tables) {
    const [row] = await sql`
      select md5(coalesce(string_agg(row, ' ' order by row), '')) as digest
      from (select (to_jsonb(t) - 'last_used_at' - 'last_active')::text as row from ${sql(name)} t) rows`
    digests[name] = row!.digest
  }
  return digests
}
