import type { Pool } from '../src/kernel/sql.ts'

const agents = 50
const deals = 10_000

export async function addAgents(sql: Pool, workspaceId: string): Promise<void> {
  await sql`
    insert into agents (workspace_id, id, email, name, role, status, created_at, updated_at)
    select ${workspaceId}, 'agent_bench' || n, 'agent' || n || '@example.com', 'Agent ' || n, 'agent', 'active', now(), now()
    from generate_series(0, ${agents - 1}) n`
}

/** Closed deals of the first leads, spread over the agents. */
export async function addDeals(sql: Pool, workspaceId: string): Promise<void> {
  await sql`
    insert into deals (workspace_id, id, lead_id, property_id, agent_id, value, currency, status, created_at, closed_at)
    select workspace_id, 'deal_bench' || right(id, 16), id, 'prop_bench' || lpad('1', 16, '0'), assigned_agent, 400000,
      'EUR', 'closed', created_at, created_at + interval '1 day'
    from leads where workspace_id = ${workspaceId} order by id limit ${deals}`
  await sql`vacuum analyze deals`
}

/** Leads that differ as real ones do, made in the database. Numbers `from` to `to` are added. */
export async function addLeads(
  sql: Pool,
  workspaceId: string,
  from: number,
  to: number,
  dated: Dates = { since: '2026-01-01Z', everySeconds: 1 },
): Promise<void> {
  await withoutIndexes(sql, async () => {
    await insertLeads(sql, workspaceId, from, to, dated)
  })
  await sql`vacuum analyze leads`
  await sql`vacuum analyze lead_activity`
}

/** When the first came, and how long it is to the next. */
export interface Dates {
  since: string
  everySeconds: number
}

// A million rows are indexed at the end in a tenth of the time that it takes row by row.
export async function withoutIndexes(sql: Pool, work: () => Promise<void>): Promise<void> {
  const indexes = await sql`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where indrelid in ('leads'::regclass, 'lead_activity'::regclass) and not indisprimary`
  for (const { name } of indexes) await sql`drop index ${sql.unsafe(name)}`
  // It looks for earlier entries of the lead, of which there are none, by an index that is not there.
  await sql`alter table lead_activity disable trigger user`
  await work()
  await sql`alter table lead_activity enable trigger user`
  await sql`set maintenance_work_mem = '512MB'`
  for (const { definition } of indexes) await sql.unsafe(definition)
}

async function insertLeads(
  sql: Pool,
  workspaceId: string,
  from: number,
  to: number,
  { since, everySeconds }: Dates,
): Promise<void> {
  await sql`
    insert into leads (workspace_id, id, name, email, phone, source, stage, score, assigned_agent, budget_min,
      budget_max, budget_currency, timeline, notes, tags, loss_reason, created_at, updated_at)
    select ${workspaceId}, 'lead_bench' || lpad(n::text, 16, '0'),
      initcap(first) || ' ' || initcap(last), first || '.' || last || n || '@' || domain, '+351 9' || 10000000 + n,
      (enum_range(null::lead_source))[1 + n % 7], stage, 20 + n % 70, agent, 200000, 450000, 'EUR',
      '3_months', 'Prefers a high floor and a view of the river.', array['tag' || n % 50],
      case when stage = 'lost' then 'other'::loss_reason end, t, t
    from generate_series(${from}::int, ${to}::int) n
    cross join lateral (select
      (array['amina','bruno','clara','diego','elena','farid','greta','hugo','ines','jonas','karim','lena'])[1 + n % 12] as first,
      md5((n / 7)::text)::varchar(8) as last,
      (array['example.com','mail.example','post.example'])[1 + n % 3] as domain,
      (enum_range(null::lead_stage))[1 + n % 7] as stage,
      ${since}::timestamptz + n * ${everySeconds}::int * interval '1 second' as t) as parts
    cross join lateral (select 'agent_bench' || n % ${agents} as agent) agents`
  // Or each entry's reference is checked by a plan that was made while the table was empty.
  await sql`analyze leads`
  await sql`
    insert into lead_activity (workspace_id, id, lead_id, type, description, "timestamp", "to", agent_id, contact)
    select workspace_id, 'activity_bench' || kind || right(id, 16), id, kind::activity_type, 'What happened.',
      created_at + n * interval '1 hour', case kind when 'stage_change' then 'contacted' else assigned_agent end,
      assigned_agent, kind = 'stage_change'
    from leads, unnest(array['assignment', 'stage_change']) with ordinality as entry (kind, n)
    where workspace_id = ${workspaceId} and id between 'lead_bench' || lpad(${from}::text, 16, '0')
      and 'lead_bench' || lpad(${to}::text, 16, '0')`
}

export const leadId = (n: number) => `lead_bench${String(n).padStart(16, '0')}`
