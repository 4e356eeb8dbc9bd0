import type { Pool } from '../src/kernel/sql.ts'
import { withoutIndexes } from './leads-data.ts'

/** What else happened to the leads of a large workspace, made in the database. */

/** Every lead that is no longer new was contacted a day or more after it came, and went on some days later. */
export async function addMoves(sql: Pool, workspaceId: string): Promise<void> {
  await withoutIndexes(sql, async () => {
    await sql`
      insert into lead_activity (workspace_id, id, lead_id, type, description, "timestamp", since, "from", "to", agent_id)
      select workspace_id, 'activity_move' || right(id, 16), id, 'stage_change', 'Stage changed.',
        created_at + (1 + hashtext(id) & 7) * interval '1 day', created_at, 'new', stage, assigned_agent
      from leads where workspace_id = ${workspaceId} and stage <> 'new' and id like 'lead_bench%'`
  })
  await sql`vacuum analyze lead_activity`
}

export async function addDeals(
  sql: Pool,
  workspaceId: string,
  propertyIds: string[],
  count: number,
): Promise<void> {
  await sql`
    insert into deals (workspace_id, id, lead_id, property_id, agent_id, value, currency, status, created_at, closed_at)
    select ${workspaceId}, 'deal_bench' || lpad(n::text, 16, '0'), leads.id,
      (${propertyIds}::text[])[1 + n % ${propertyIds.length}::int], leads.assigned_agent, 200000 + n,
      (array['EUR', 'USD'])[1 + n % 2], case when n % 5 = 0 then 'open' else 'closed' end::deal_status,
      leads.created_at, case when n % 5 > 0 then leads.created_at + interval '20 days' end
    from generate_series(1, ${count}::int) n
    join leads on leads.workspace_id = ${workspaceId} and leads.id = 'lead_bench' || lpad((n * 20)::text, 16, '0')`
  await sql`vacuum analyze deals`
}
