import type { Workspace } from '../../kernel/context.ts'
import { newId } from '../../kernel/ids.ts'
import { shareOf } from '../../kernel/money.ts'
import type { Sql } from '../../kernel/sql.ts'
import { Commission, Deal, Invoice } from '../deals/schema.ts'
import { Activity, Note } from '../leads/activity-schema.ts'
import { Lead, type LeadStage } from '../leads/schema.ts'
import { scoreOf } from '../leads/score.ts'
import type { Property } from '../properties/schema.ts'
import type { Unit } from '../units/schema.ts'
import { type PlacedAgent, placeAgents } from './agents.ts'
import { Chance } from './chance.ts'
import { insertMany } from './insert.ts'
import { type DemoLead, tellLead } from './leads.ts'

const dayMs = 86_400_000
const openLeads = 260
const monthsBack = 6

const stages: Record<Exclude<LeadStage, 'won'>, number> = {
  new: 22,
  contacted: 22,
  qualified: 16,
  viewing: 12,
  negotiation: 8,
  lost: 20,
}

/** Agents in teams, leads in every stage, and a deal for every unit that is sold or reserved. */
export async function fillPipeline(
  sql: Sql,
  workspace: Workspace,
  stock: { properties: Property[]; units: Unit[] },
  now: Date,
): Promise<void> {
  const chance = new Chance(20_260_301)
  const agents = await placeAgents(sql, workspace, new Date(now.getTime() - 400 * dayMs))
  const buyers = stock.units
    .filter(({ status }) => status === 'sold' || status === 'reserved')
    .map((unit) => ({ unit, ...buyerOf(chance, unit, agents, now) }))
  const others = Array.from({ length: openLeads }, () => prospect(chance, stock, agents, now))
  await insertLeads(sql, workspace, [...buyers.map(({ told }) => told), ...others], now)
  await insertDeals(sql, workspace, buyers, now)
}

interface Buyer {
  told: DemoLead
  agent: PlacedAgent
}

function buyerOf(chance: Chance, unit: Unit, agents: PlacedAgent[], now: Date): Buyer {
  const agent = chance.pick(agents)
  const daysAgo = unit.status === 'sold' ? chance.between(50, monthsBack * 30) : chance.between(25, 45)
  const createdAt = new Date(now.getTime() - daysAgo * dayMs)
  return { agent, told: tellLead(chance, { createdAt, stage: 'won', agent, interest: unit, now }) }
}

function prospect(
  chance: Chance,
  { properties, units }: { properties: Property[]; units: Unit[] },
  agents: PlacedAgent[],
  now: Date,
): DemoLead {
  // More of them are recent: interest grows, and old leads have been settled.
  const age = chance.next() ** 1.6 * monthsBack * 30
  const stage = chance.weighted(stages)
  return tellLead(chance, {
    createdAt: new Date(now.getTime() - age * dayMs),
    stage,
    agent: stage === 'new' && chance.next() < 0.4 ? undefined : chance.pick(agents),
    interest:
      chance.next() < 0.15 ? undefined : chance.next() < 0.6 ? chance.pick(properties) : chance.pick(units),
    now,
  })
}

async function insertLeads(sql: Sql, workspace: Workspace, told: DemoLead[], now: Date): Promise<void> {
  await insertMany(
    sql,
    workspace,
    Lead,
    told.map(({ lead }) => lead),
    (lead) => ({ score_falls_at: scoreOf(lead as Lead, now).fallsAt }),
  )
  const entries = told.flatMap((lead) => lead.entries)
  const hidden = new Map(
    entries.map(({ entry, agentId, contact }) => [entry.id, { agent_id: agentId, contact }]),
  )
  await insertMany(
    sql,
    workspace,
    Activity,
    entries.map(({ entry }) => entry),
    (entry) => hidden.get((entry as Activity).id)!,
  )
  await insertMany(
    sql,
    workspace,
    Note,
    told.flatMap(({ notes }) => notes),
  )
}

async function insertDeals(
  sql: Sql,
  workspace: Workspace,
  buyers: (Buyer & { unit: Unit })[],
  now: Date,
): Promise<void> {
  const sales = buyers.map(({ told, agent, unit }) => ({ agent, deal: dealOf(told, agent, unit, now) }))
  const commissions = sales.map(
    ({ agent, deal }): Commission => ({
      id: newId('comm', new Date(deal.created_at)),
      deal_id: deal.id,
      agent_id: agent.id,
      rate: agent.rate,
      amount: shareOf(deal.value, agent.rate),
      currency: deal.currency,
      status: deal.status === 'closed' ? 'earned' : 'pending',
      created_at: deal.created_at,
    }),
  )
  const closed = sales
    .map(({ deal }) => deal)
    .filter((deal) => deal.closed_at !== null)
    .sort((a, b) => a.closed_at!.localeCompare(b.closed_at!))
  const invoices = closed.map(
    (deal, at): Invoice => ({
      id: newId('inv', new Date(deal.closed_at!)),
      number: `INV-${String(at + 1).padStart(6, '0')}`,
      deal_id: deal.id,
      amount: deal.value,
      currency: deal.currency,
      status: 'open',
      created_at: deal.closed_at!,
    }),
  )
  const deals = sales.map(({ deal }) => deal)
  await insertMany(sql, workspace, Deal, deals)
  await insertMany(sql, workspace, Commission, commissions)
  await insertMany(sql, workspace, Invoice, invoices)
  await sql`insert into invoice_numbers (workspace_id, last) values (${workspace.id}, ${invoices.length})`
}

function dealOf({ lead, settledAt }: DemoLead, agent: PlacedAgent, unit: Unit, now: Date): Deal {
  const closedAt = new Date(Math.min(settledAt.getTime() + 12 * dayMs, now.getTime()))
  const isClosed = unit.status === 'sold'
  return {
    id: newId('deal', settledAt),
    lead_id: lead.id,
    property_id: unit.property_id,
    unit_id: unit.id,
    agent_id: agent.id,
    value: unit.price.amount,
    currency: unit.price.currency,
    status: isClosed ? 'closed' : 'open',
    notes: null,
    created_at: settledAt.toISOString(),
    closed_at: isClosed ? closedAt.toISOString() : null,
    cancelled_at: null,
  }
}
