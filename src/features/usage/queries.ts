import type { Tx } from '../../kernel/context.ts'
import { allOf, type Pool, type Sql } from '../../kernel/sql.ts'
import type { UsageRow } from './tally.ts'

/** Adds to what is there, in one statement. Ordered by key, so that two processes can't wait for each other. */
export const addUsage = (sql: Pool, rows: UsageRow[]): Promise<unknown> =>
  sql`
    insert into usage_days (workspace_id, day, credential_id, route, requests)
    select workspace_id, day, credential_id, route, sum(requests)
    from jsonb_to_recordset(${sql.json(rows as never)})
      as added (workspace_id text, day date, credential_id text, route text, requests bigint)
    where exists (select from workspaces w where w.id = added.workspace_id)
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (workspace_id, day, credential_id, route)
    do update set requests = usage_days.requests + excluded.requests`

/** What workspaces used on a day: all that used anything, or those asked for. */
export const usedOn = (
  sql: Sql,
  day: string,
  workspaceIds?: string[],
): Promise<{ workspace_id: string; used: number }[]> =>
  sql`
    select workspace_id, sum(requests)::bigint as used from usage_days
    where day = ${day} ${workspaceIds ? sql`and workspace_id = any(${workspaceIds})` : sql``}
    group by workspace_id`

// Enough for a year's comparison with the one before.
const keptDays = 800

/** Drops the records of days long past. */
export const forgetOldUsage = ({ sql, clock }: { sql: Pool; clock: { now(): Date } }): Promise<unknown> =>
  sql`delete from usage_days where day < ${clock.now()}::date - ${keptDays}::int`

export interface UsageFilter {
  from: string
  to: string
  credential?: string | undefined
  route?: string | undefined
}

export async function usagePage(
  { sql, workspaceId }: Tx,
  filter: UsageFilter,
  page: { page: number; perPage: number },
): Promise<{ records: object[]; total: number }> {
  const conditions = allOf(sql, [
    sql`workspace_id = ${workspaceId} and day between ${filter.from} and ${filter.to}`,
    ...(filter.credential ? [sql`credential_id = ${filter.credential}`] : []),
    ...(filter.route ? [sql`route = ${filter.route}`] : []),
  ])
  const [found, records] = await Promise.all([
    sql`select count(*)::int as total from usage_days where ${conditions}`,
    sql`
      select day as date, credential_id as credential, route, requests from usage_days where ${conditions}
      order by day desc, credential_id, route
      limit ${page.perPage} offset ${(page.page - 1) * page.perPage}`,
  ])
  return { records, total: found[0]!.total }
}
