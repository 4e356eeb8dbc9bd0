import type { Clock } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/context.ts'
import { conflict } from '../../kernel/errors.ts'
import type { Pool } from '../../kernel/sql.ts'
import type { Import } from './schema.ts'

const hourMs = 3_600_000
const keptDays = 30
const keptMs = keptDays * 24 * hourMs

/** `what` an import kept of its rows; refused once it is gone, or may be at any moment. */
export function requireKept({ now }: Tx, { finished_at }: Import, what: string): void {
  if (finished_at === null || now.getTime() - new Date(finished_at).getTime() <= keptMs) return
  throw conflict(`${what} is no longer known: it was kept for ${keptDays} days.`)
}

/** Drops uploads that never became an import, and what imports kept of their rows once nobody will ask for it. */
export async function forgetOldImports({ sql, clock }: { sql: Pool; clock: Clock }): Promise<void> {
  const now = clock.now().getTime()
  await sql`
    delete from import_files f where f.created_at < ${new Date(now - hourMs)} and not exists (
      select from import_work w where w.workspace_id = f.workspace_id and w.import_id = f.id)`
  const old = sql`
    select workspace_id, id from imports
    where finished_at < ${new Date(now - keptMs)}`
  await sql`delete from import_rejects where (workspace_id, import_id) in (${old})`
  await sql`delete from import_records where (workspace_id, import_id) in (${old})`
}
