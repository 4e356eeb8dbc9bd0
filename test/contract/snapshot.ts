import type { Harness } from '../harness.ts'

/** A digest of every row of every table, but for the counts of requests: two that are equal mean that nothing was written in between. */
export async function snapshot({ sql }: Harness): Promise<Record<string, string>> {
  const tables = await sql`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like '%usage%' order by 1`
  const digests: Record<string, string> = {}
  for (const { name } of tables) {
    const [row] = await sql`
      select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) as digest from ${sql(name)} t`
    digests[name] = row!.digest
  }
  return digests
}
