import type { Tx } from '../../kernel/context.ts'
import { type LeadStage, leadSources, leadStages } from '../leads/schema.ts'
import { cohort, daysOf, dealsOf, moves, rate, type Scope } from './scope.ts'

/** A sum in one currency. Sums of different currencies are never added. */
export interface Sum {
  currency: string
  amount: number
}

/** Figures, and how many rows they were counted from. */
export interface Counted<T> {
  figures: T
  rows: number
}

interface StageRow {
  stage: LeadStage
  currency: string | null
  leads: number
  value: number | null
}
interface MoveRow {
  from: LeadStage
  to: LeadStage
  moves: number
}
interface StayRow {
  stage: LeadStage
  days: number
}

/** The leads that came in these days by the stage they are in, how leads moved in them, and how long they had stayed. */
export async function pipelineFigures(tx: Tx, scope: Scope): Promise<Counted<object>> {
  const { sql } = tx
  const [row] = await sql<[{ stages: StageRow[]; moves: MoveRow[]; stays: StayRow[] }]>`
    with by_stage as (
      select leads.stage, leads.budget_currency as currency, count(*)::int as leads,
        sum(coalesce(leads.budget_max, leads.budget_min)) as value
      from leads where ${cohort(tx, scope)} group by 1, 2),
    moved as materialized (
      select moves."from", moves."to", extract(epoch from moves."timestamp" - moves.since)::float8 / 86400 as days
      from lead_activity moves where ${moves(tx, scope)}),
    by_move as (select "from", "to", count(*)::int as moves from moved group by 1, 2),
    by_stay as (
      select "from" as stage, round(percentile_cont(0.5) within group (order by days)::numeric, 2) as days
      from moved where days is not null group by 1)
    select (select coalesce(json_agg(by_stage), '[]') from by_stage) as stages,
      (select coalesce(json_agg(by_move), '[]') from by_move) as moves,
      (select coalesce(json_agg(by_stay), '[]') from by_stay) as stays`
  const { stages, moves: made, stays } = row
  const leftFrom = (stage: LeadStage) =>
    sumOf(made.filter(({ from }) => from === stage).map((one) => one.moves))
  const order = (stage: LeadStage) => leadStages.indexOf(stage)
  return {
    rows: sumOf(stages.map(({ leads }) => leads)) + sumOf(made.map((one) => one.moves)),
    figures: {
      ...daysOf(scope),
      stages: leadStages.map((stage) => {
        const rows = stages.filter((one) => one.stage === stage)
        return {
          stage,
          leads: sumOf(rows.map(({ leads }) => leads)),
          value: sums(rows.map(({ currency, value }) => ({ currency, amount: value }))),
          median_days: stays.find((one) => one.stage === stage)?.days ?? null,
        }
      }),
      conversions: made
        .toSorted((a, b) => order(a.from) - order(b.from) || order(a.to) - order(b.to))
        .map(({ from, to, moves }) => ({ from, to, leads: moves, rate: rate(moves, leftFrom(from)) })),
    },
  }
}

interface SourceRow {
  source: string
  leads: number
  won: number
  lost: number
}

/** The leads that came in these days by where they came from, what became of them, and the deals closed in these days. */
export async function sourceFigures(tx: Tx, scope: Scope): Promise<Counted<object>> {
  const { sql } = tx
  const [row] = await sql<[{ leads: SourceRow[]; closed: (Sum & { source: string; deals: number })[] }]>`
    with by_source as (
      select leads.source, count(*)::int as leads, count(*) filter (where leads.stage = 'won')::int as won,
        count(*) filter (where leads.stage = 'lost')::int as lost
      from leads where ${cohort(tx, scope)} group by 1),
    closed as (
      select leads.source, deals.currency, count(*)::int as deals, sum(deals.value) as amount
      from deals join leads on leads.workspace_id = deals.workspace_id and leads.id = deals.lead_id
      where ${dealsOf(tx, scope)} and deals.status = 'closed'
        and deals.closed_at >= ${scope.start} and deals.closed_at < ${scope.end}
      group by 1, 2)
    select (select coalesce(json_agg(by_source), '[]') from by_source) as leads,
      (select coalesce(json_agg(closed), '[]') from closed) as closed`
  return {
    rows: sumOf(row.leads.map(({ leads }) => leads)),
    figures: {
      ...daysOf(scope),
      sources: leadSources.map((source) => {
        const { leads, won, lost } = row.leads.find((one) => one.source === source) ?? noLeads
        const closed = row.closed.filter((one) => one.source === source)
        return {
          source,
          leads,
          won,
          lost,
          conversion_rate: rate(won, leads),
          deals_closed: sumOf(closed.map(({ deals }) => deals)),
          revenue: sums(closed),
        }
      }),
    },
  }
}

interface AgentRow extends SourceRow {
  agent_id: string
  name: string
}

/** Agents by what they sold in these days, then by the leads they won of those that came in them. */
export async function agentFigures(tx: Tx, scope: Scope): Promise<Counted<object>> {
  const { sql, workspaceId } = tx
  const [row] = await sql<[{ agents: AgentRow[]; closed: (Sum & { agent_id: string; deals: number })[] }]>`
    with by_agent as (
      select leads.assigned_agent, count(*)::int as leads, count(*) filter (where leads.stage = 'won')::int as won,
        count(*) filter (where leads.stage = 'lost')::int as lost
      from leads where ${cohort(tx, scope)} and leads.assigned_agent is not null group by 1),
    closed as (
      select deals.agent_id, deals.currency, count(*)::int as deals, sum(deals.value) as amount
      from deals where ${dealsOf(tx, scope)} and deals.status = 'closed' and deals.agent_id is not null
        and deals.closed_at >= ${scope.start} and deals.closed_at < ${scope.end}
      group by 1, 2),
    listed as (
      select agents.id as agent_id, agents.name, coalesce(by_agent.leads, 0) as leads,
        coalesce(by_agent.won, 0) as won, coalesce(by_agent.lost, 0) as lost
      from agents left join by_agent on by_agent.assigned_agent = agents.id
      where agents.workspace_id = ${workspaceId} and (by_agent.leads > 0
        or agents.id in (select agent_id from closed) or agents.status <> 'inactive' and agents.role <> 'viewer')
        ${scope.agentId === undefined ? sql`` : sql`and agents.id = ${scope.agentId}`})
    select (select coalesce(json_agg(listed), '[]') from listed) as agents,
      (select coalesce(json_agg(closed), '[]') from closed) as closed`
  const agents = row.agents.map(({ agent_id, name, leads, won, lost }) => {
    const closed = row.closed.filter((one) => one.agent_id === agent_id)
    const deals_closed = sumOf(closed.map(({ deals }) => deals))
    return {
      agent_id,
      name,
      leads,
      won,
      lost,
      conversion_rate: rate(won, leads),
      deals_closed,
      revenue: sums(closed),
    }
  })
  agents.sort(
    (a, b) =>
      b.deals_closed - a.deals_closed || b.won - a.won || b.leads - a.leads || compare(a.name, b.name),
  )
  return { rows: sumOf(row.agents.map(({ leads }) => leads)), figures: { ...daysOf(scope), agents } }
}

const noLeads = { leads: 0, won: 0, lost: 0 }
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
export const sumOf = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0)

/** By currency, in the order of their codes; what is not known in any is left out. */
export function sums(parts: { currency: string | null; amount: number | null }[]): Sum[] {
  return parts
    .filter((part): part is Sum => part.currency !== null && part.amount !== null)
    .map(({ currency, amount }) => ({ currency, amount: Math.round(amount * 100) / 100 }))
    .sort((a, b) => compare(a.currency, b.currency))
}
