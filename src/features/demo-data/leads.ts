import { newId } from '../../kernel/ids.ts'
import type { Activity, Note } from '../leads/activity-schema.ts'
import type { Lead, LeadStage } from '../leads/schema.ts'
import { lossReasons } from '../leads/schema.ts'
import { scoreOf } from '../leads/score.ts'
import type { Property } from '../properties/schema.ts'
import type { Unit } from '../units/schema.ts'
import type { PlacedAgent } from './agents.ts'
import type { Chance } from './chance.ts'
import { firstNames, lastNames, remarks } from './people.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

export interface DemoEntry {
  entry: Activity
  agentId: string | null
  contact: boolean
}

/** A lead with everything that has happened to it. */
export interface DemoLead {
  lead: Lead
  entries: DemoEntry[]
  notes: Note[]
  /** When the last stage was reached. */
  settledAt: Date
}

export interface DemoStory {
  createdAt: Date
  stage: LeadStage
  agent: PlacedAgent | undefined
  interest: Property | Unit | undefined
  now: Date
}

const way: LeadStage[] = ['new', 'contacted', 'qualified', 'viewing', 'negotiation', 'won']
const sources = { website: 30, portal: 24, referral: 16, social: 12, walk_in: 8, api: 5, manual: 5 }

/** Tells the story of one lead, from its creation to the stage it is in. */
export function tellLead(chance: Chance, story: DemoStory): DemoLead {
  const { createdAt, stage, agent, interest, now } = story
  const id = newId('lead', createdAt)
  const entries: DemoEntry[] = []
  const add = (at: Date, entry: Partial<Activity>, contact = false) =>
    entries.push({
      entry: {
        id: newId('activity', at),
        lead_id: id,
        user: agent?.id ?? null,
        timestamp: at.toISOString(),
        ...entry,
      } as Activity,
      agentId: agent?.id ?? null,
      contact,
    })

  const source = chance.weighted(sources)
  add(createdAt, { type: 'created', description: `Lead created from ${source}.`, to: 'new' })
  if (agent) add(createdAt, { type: 'assignment', description: `Assigned to ${agent.id}.`, to: agent.id })

  let at = createdAt
  let lastContacted: Date | null = null
  const steps = stepsTo(chance, stage)
  const notes: Note[] = []
  steps.forEach((to, index) => {
    const wait = index === 0 ? chance.between(0.3, 30) * hourMs : chance.between(1, 9) * dayMs
    at = new Date(Math.min(at.getTime() + wait, now.getTime() - (steps.length - index) * hourMs))
    if (at < createdAt) at = createdAt
    const from = index === 0 ? 'new' : steps[index - 1]!
    const description = `Stage changed from ${from} to ${to}.`
    add(at, { type: 'stage_change', description, from, to }, to === 'contacted')
    if (to === 'contacted') lastContacted = at
    if (chance.next() < 0.55 && to !== 'lost') {
      const type = chance.pick(['call_summary', 'note', 'meeting', 'email'])
      const content = chance.pick(remarks)
      const user = agent?.id ?? null
      notes.push({ id: newId('note', at), lead_id: id, content, type, user, created_at: at.toISOString() })
      add(at, { type: 'note', description: content }, type !== 'note')
      if (type !== 'note') lastContacted = at
    }
  })

  const lossReason = stage === 'lost' ? chance.pick(lossReasons) : null
  if (stage === 'won') add(at, { type: 'won', description: 'Lead won.', from: 'negotiation', to: 'won' })
  if (stage === 'lost') {
    add(at, { type: 'lost', description: `Lead lost: ${lossReason}.`, to: 'lost', reason: lossReason })
  }
  const active = stage !== 'won' && stage !== 'lost'
  const lead = {
    ...buyer(chance, interest),
    id,
    source,
    stage,
    score: 0,
    assigned_agent: agent?.id ?? null,
    loss_reason: lossReason,
    external_id: null,
    last_contacted: lastContacted === null ? null : (lastContacted as Date).toISOString(),
    next_follow_up:
      active && chance.next() < 0.6 ? new Date(now.getTime() + chance.below(14) * dayMs).toISOString() : null,
    created_at: createdAt.toISOString(),
    updated_at: at.toISOString(),
  }
  return { lead: { ...lead, score: scoreOf(lead, now).score }, entries, notes, settledAt: at }
}

function stepsTo(chance: Chance, stage: LeadStage): LeadStage[] {
  if (stage === 'lost') return [...way.slice(1, 1 + chance.below(4)), 'lost']
  return way.slice(1, way.indexOf(stage) + 1)
}

function buyer(chance: Chance, interest: Property | Unit | undefined) {
  const [first, last] = [chance.pick(firstNames), chance.pick(lastNames)]
  const mailName = `${first}.${last}`
    .normalize('NFD')
    .replace(/[^\w.]/g, '')
    .toLowerCase()
  const around = priceOf(interest)
  return {
    name: `${first} ${last}`,
    email: `${mailName}${chance.below(90) + 10}@example.com`,
    phone: chance.next() < 0.8 ? `+351 9${String(chance.below(100_000_000)).padStart(8, '0')}` : null,
    interested_properties: interest ? [interest.id] : [],
    budget:
      around === null
        ? null
        : { min: thousands(around * 0.85), max: thousands(around * 1.1), currency: 'EUR' },
    timeline:
      chance.next() < 0.7
        ? chance.pick(['immediate', '1_months', '3_months', '6_months', '12_months'])
        : null,
    notes: chance.next() < 0.3 ? chance.pick(remarks) : null,
    tags:
      chance.next() < 0.4
        ? [chance.pick(['investor', 'family', 'first_home', 'cash_buyer', 'relocation'])]
        : [],
  }
}

const thousands = (amount: number) => Math.round(amount / 1_000) * 1_000

function priceOf(interest: Property | Unit | undefined): number | null {
  if (!interest) return null
  if ('price' in interest) return thousands(interest.price.amount)
  return interest.pricing?.min_price == null ? null : thousands(interest.pricing.min_price)
}
