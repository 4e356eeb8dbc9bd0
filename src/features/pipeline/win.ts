import type { Versioned } from '../../events/change.ts'
import { type Tx, transaction } from '../../kernel/context.ts'
import { conflict, invalidField } from '../../kernel/errors.ts'
import { getAgent } from '../agents/service.ts'
import { closedDealOfUnit, lockDealOfLead, openDeal, openDealOfUnit } from '../deals/service.ts'
import type { Lead } from '../leads/schema.ts'
import { changeLead, getLead, tellWonAgain } from '../leads/service.ts'
import { findPropertyOf } from '../properties/service.ts'
import { lockUnit } from '../units/service.ts'

export interface Win {
  /** A property or a unit. */
  property_id: string
  deal_value: number
  commission?: number | null
  notes?: string | null
}

/**
 * Wins a lead: a deal is opened, the unit reserved. The lead and then the unit are locked, so that of
 * two people who win the same one at the same moment the second is told of the deal of the first.
 */
export function winLead(tx: Tx, id: string, win: Win): Promise<Versioned<Lead>> {
  return transaction(tx, async (tx) => {
    const lead = await getLead(tx, id, true)
    const existing = await lockDealOfLead(tx, id)
    if (existing) {
      const { id: dealId, status } = existing.record
      throw conflict(`The lead has been won already: its deal ${dealId} is ${status}.`)
    }
    const sold = await whatIsSold(tx, win.property_id)
    const agentId = lead.record.assigned_agent
    const rate = agentId ? (await getAgent(tx, agentId)).record.commission?.rate : null
    const won = await markWon(tx, lead, win)
    await openDeal(tx, {
      lead_id: id,
      property_id: sold.propertyId,
      unit_id: sold.unitId,
      agent_id: agentId,
      value: win.deal_value,
      currency: sold.currency ?? lead.record.budget?.currency ?? tx.viewer.workspace.currency,
      notes: win.notes ?? null,
      commission: { amount: win.commission ?? null, rate: rate ?? null },
    })
    return won
  })
}

/** A lead that stood at won without a deal stays there, and is won all the same. */
async function markWon(tx: Tx, lead: Versioned<Lead>, { notes }: Win): Promise<Versioned<Lead>> {
  if (lead.record.stage !== 'won')
    return changeLead(tx, lead.record.id, { patch: { stage: 'won' }, remarks: { notes } })
  await tellWonAgain(tx, lead.record, { notes })
  return lead
}

async function soldText(tx: Tx, unitId: string): Promise<string> {
  const deal = await closedDealOfUnit(tx, unitId)
  return deal ? `The unit is sold: its deal ${deal.record.id} is closed.` : 'The unit is sold.'
}

interface Sold {
  propertyId: string
  unitId: string | null
  currency: string | null
}

async function whatIsSold(tx: Tx, id: string): Promise<Sold> {
  const field = 'property_id'
  if (!id.startsWith('unit_')) {
    const property = await findPropertyOf(tx, id)
    if (!property) throw invalidField(field, 'does not name a property or unit of this workspace.')
    return { propertyId: property.id, unitId: null, currency: property.pricing?.currency ?? null }
  }
  const unit = await lockUnit(tx, id)
  if (!unit) throw invalidField(field, 'does not name a property or unit of this workspace.')
  const deal = await openDealOfUnit(tx, id)
  if (deal) throw conflict(`The unit is reserved by the open deal ${deal.record.id}.`)
  if (unit.status === 'sold') throw conflict(await soldText(tx, id))
  return { propertyId: unit.property_id, unitId: unit.id, currency: unit.price.currency }
}
