import type { Workspace } from '../../kernel/context.ts'
import type { Resource } from '../../kernel/resource.ts'
import { raw, type Sql } from '../../kernel/sql.ts'

// PostgreSQL takes 65,535 parameters in a statement; 500 rows of a wide table stay below.
const rowsAtOnce = 500

/** Inserts records as they are. `hidden` gives the columns that the resource does not show. */
export async function insertMany(
  sql: Sql,
  workspace: Workspace,
  resource: Pick<Resource, 'table' | 'toRow'>,
  records: object[],
  hidden: (record: object) => object = () => ({}),
): Promise<void> {
  for (let from = 0; from < records.length; from += rowsAtOnce) {
    const rows = records.slice(from, from + rowsAtOnce).map((record) => ({
      workspace_id: workspace.id,
      ...resource.toRow(record as never),
      ...hidden(record),
    }))
    await sql`insert into ${raw(sql, resource.table)} ${sql(rows as never)}`
  }
}
