import type { Tx } from '../../kernel/context.ts'
import { dayOf, lastDayOf, type Period, type Span, spanOf } from './period.ts'
import { getAgent } from './service.ts'

const count = { type: 'integer', minimum: 0 }
const amount = { type: 'number', minimum: 0 }

export const agentStatsSchema = {
  type: 'object',
  properties: {
    period: { type: 'string', examples: ['month'], description: '`custom` where dates were given.' },
    start_date: { type: 'string', format: 'date', examples: ['2026-03-01'] },
    end_date: { type: 'string', format: 'date', examples: ['2026-03-31'] },
    leads: {
      type: 'object',
      properties: { assigned: count, contacted: count, qualified: count, closed: count },
      required: ['assigned', 'contacted', 'qualified', 'closed'],
      examples: [{ assigned: 24, contacted: 19, qualified: 11, closed: 3 }],
    },
    conversion_rate: { type: 'number', minimum: 0, examples: [0.125] },
    average_response_time: {
      type: ['string', 'null'],
      examples: ['2h 15m'],
      description: 'From assignment to their first contact with the lead; null while there was none.',
    },
    revenue: {
      type: 'object',
      properties: { closed: amount, pending: amount, currency: { type: 'string' } },
      required: ['closed', 'pending', 'currency'],
      examples: [{ closed: 1260000, pending: 420000, currency: 'USD' }],
    },
    commission_earned: { ...amount, examples: [37800] },
  },
  required: [
    'period',
    'start_date',
    'end_date',
    'leads',
    'conversion_rate',
    'average_response_time',
    'revenue',
    'commission_earned',
  ],
  additionalProperties: false,
}

export async function agentStats(
  tx: Tx,
  id: string,
  asked: { period?: Period; start_date?: string; end_date?: string },
): Promise<object> {
  const span = spanOf(asked, tx.now)
  const [leads, money] = await Promise.all([
    leadFigures(tx, id, span),
    moneyFigures(tx, id, span),
    getAgent(tx, id),
  ])
  const { assigned, contacted, qualified, responseSeconds } = leads
  const { closed, closedValue, pendingValue, currency, commission } = money
  return {
    period: span.period,
    start_date: dayOf(span.start),
    end_date: lastDayOf(span),
    leads: { assigned, contacted, qualified, closed },
    conversion_rate: assigned === 0 ? 0 : Math.round((closed / assigned) * 10_000) / 10_000,
    average_response_time: responseSeconds === null ? null : durationText(responseSeconds),
    revenue: { closed: closedValue, pending: pendingValue, currency },
    commission_earned: commission,
  }
}

interface LeadFigures {
  assigned: number
  contacted: number
  qualified: number
  responseSeconds: number | null
}

/** Counted from the activity of the leads that were the agent's at the time. */
async function leadFigures({ sql, workspaceId }: Tx, id: string, { start, end }: Span): Promise<LeadFigures> {
  const [row] = await sql<[LeadFigures]>`
    with entries as (
      select type, "to", lead_id, "timestamp" from lead_activity
      where workspace_id = ${workspaceId} and agent_id = ${id} and type in ('assignment', 'stage_change')
        and "timestamp" >= ${start} and "timestamp" < ${end}),
    assigned as (
      select lead_id, min("timestamp") as at from entries where type = 'assignment' group by lead_id)
    select
      (select count(*)::int from assigned) as assigned,
      (select count(distinct lead_id)::int from entries where type = 'stage_change' and "to" = 'contacted') as contacted,
      (select count(distinct lead_id)::int from entries where type = 'stage_change' and "to" = 'qualified') as qualified,
      (select extract(epoch from avg(first.at - assigned.at))::float8 from assigned
        cross join lateral (
          select min(a."timestamp") as at from lead_activity a
          where a.workspace_id = ${workspaceId} and a.lead_id = assigned.lead_id
            and a.agent_id = ${id} and a."timestamp" >= assigned.at and a.contact) first) as "responseSeconds"`
  return row
}

interface MoneyFigures {
  closed: number
  closedValue: number
  pendingValue: number
  currency: string
  commission: number
}

/**
 * Deals closed in the span, and those open at its end. Sums are never mixed across currencies: they
 * are of the workspace's own, or where the agent sold nothing in it, of the one they sold most in.
 */
async function moneyFigures(
  { sql, workspaceId, viewer }: Tx,
  id: string,
  { start, end }: Span,
): Promise<MoneyFigures> {
  const own = viewer.workspace.currency
  const inSpan = sql`d.status = 'closed' and d.closed_at >= ${start} and d.closed_at < ${end}`
  const pending = sql`d.created_at < ${end} and d.status <> 'cancelled'
    and (d.status = 'open' or d.closed_at >= ${end})`
  const rows = await sql<MoneyFigures[]>`
    select d.currency, count(*) filter (where ${inSpan})::int as closed,
      coalesce(sum(d.value) filter (where ${inSpan}), 0) as "closedValue",
      coalesce(sum(d.value) filter (where ${pending}), 0) as "pendingValue",
      coalesce(sum(c.amount) filter (where ${inSpan} and c.status = 'earned'), 0) as commission
    from deals d
    left join commissions c on c.workspace_id = d.workspace_id and c.deal_id = d.id and c.agent_id = d.agent_id
    where d.workspace_id = ${workspaceId} and d.agent_id = ${id} and (${inSpan} or ${pending})
    group by d.currency
    order by d.currency = ${own} desc, sum(d.value) desc`
  const closed = rows.reduce((all, row) => all + row.closed, 0)
  const [main = { closedValue: 0, pendingValue: 0, commission: 0, currency: own }] = rows
  return { ...main, closed }
}

/** `8100` → `2h 15m`: the two largest units, down to minutes. */
export function durationText(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  const days = Math.floor(minutes / 1_440)
  const hours = Math.floor((minutes % 1_440) / 60)
  if (days > 0) return `${days}d ${hours}h`
  return hours > 0 ? `${hours}h ${minutes % 60}m` : `${minutes}m`
}
