import { type Batch, idsIn } from '../../events/batch.ts'
import { changeEvent, event } from '../../events/catalog.ts'
import { changeRecord, createRecord, type Versioned } from '../../events/change.ts'
import { type Tx, transaction } from '../../kernel/context.ts'
import { conflict, notFound, type Problem } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { shareOf } from '../../kernel/money.ts'
import { setUnitStatus } from '../units/service.ts'
import { findCommission, findDeal, lockDealOfLead, nextInvoiceNumber } from './queries.ts'
import { Commission, Deal, Invoice } from './schema.ts'

export {
  closedDealOfUnit,
  dealFilters,
  dealSource,
  leadsWithDealCancelled,
  listCommissions,
  listDeals,
  listInvoices,
  lockDealOfLead,
  openDealOfUnit,
} from './queries.ts'

/** Deals that come in from elsewhere: nothing follows from them but that they are told. */
export const dealBatch: Batch<Deal> = {
  resource: Deal,
  references: {
    lead_id: idsIn('leads'),
    property_id: idsIn('properties'),
    unit_id: idsIn('units'),
    agent_id: idsIn('agents'),
  },
  unique: {},
  events: (deal) => [event('deal.created', deal)],
}

/** The whole deal that a file tells of, not yet written. */
export function dealOf(tx: Tx, given: Partial<Deal>): { record: Deal; problems: Problem[] } {
  const status = given.status ?? 'open'
  const record = {
    notes: null,
    unit_id: null,
    agent_id: null,
    currency: tx.viewer.workspace.currency,
    created_at: tx.now.toISOString(),
    id: tx.newId('deal'),
    ...given,
    status,
    closed_at: status === 'closed' ? (given.closed_at ?? given.created_at ?? tx.now.toISOString()) : null,
    cancelled_at:
      status === 'cancelled' ? (given.cancelled_at ?? given.created_at ?? tx.now.toISOString()) : null,
  } as Deal
  const missing = (['lead_id', 'property_id', 'value'] as const).filter((name) => record[name] == null)
  return { record, problems: missing.map((field) => ({ field, message: 'is required.' })) }
}

export async function getDeal(tx: Tx, id: string, lock = false): Promise<Versioned<Deal>> {
  const found = isId('deal', id) ? await findDeal(tx, id, lock) : undefined
  if (!found) throw notFound('deal')
  return found
}

export interface NewDeal
  extends Pick<Deal, 'lead_id' | 'property_id' | 'unit_id' | 'agent_id' | 'value' | 'currency' | 'notes'> {
  /** The amount agreed on; else the agent's rate decides, and without either there is no commission. */
  commission: { amount: number | null; rate: number | null }
}

/** Opens a deal with its commission and reserves the unit, in the transaction given. */
export async function openDeal(tx: Tx, { commission, ...given }: NewDeal): Promise<Deal> {
  const now = tx.now.toISOString()
  const deal: Deal = {
    id: tx.newId('deal'),
    ...given,
    status: 'open',
    created_at: now,
    closed_at: null,
    cancelled_at: null,
  }
  await createRecord(tx, Deal, deal, [event('deal.created', deal)])
  const earned = commissionOf(tx, deal, commission)
  if (earned) await createRecord(tx, Commission, earned, [event('commission.calculated', earned)])
  if (deal.unit_id) await setUnitStatus(tx, deal.unit_id, 'reserved')
  return deal
}

function commissionOf(tx: Tx, deal: Deal, { amount, rate }: NewDeal['commission']): Commission | undefined {
  if (amount === null && rate === null) return undefined
  return {
    id: tx.newId('comm'),
    deal_id: deal.id,
    agent_id: deal.agent_id,
    rate: amount === null ? rate : null,
    amount: amount ?? shareOf(deal.value, rate!),
    currency: deal.currency,
    status: 'pending',
    created_at: deal.created_at,
  }
}

/** Closes a deal: the unit is sold, the commission earned, and an invoice made. */
export function closeDeal(tx: Tx, id: string): Promise<Versioned<Deal>> {
  return transaction(tx, async (tx) => {
    const found = await openDealOrRefuse(tx, id)
    const after = { ...found.record, status: 'closed' as const, closed_at: tx.now.toISOString() }
    const closed = await changeRecord(tx, Deal, found, after, {
      events: (after) => [changeEvent('deal.closed', after, { status: 'open', closed_at: null })],
    })
    if (after.unit_id) await setUnitStatus(tx, after.unit_id, 'sold')
    await settleCommission(tx, id, 'earned')
    await makeInvoice(tx, after)
    return closed!
  })
}

/** Cancels a deal: the unit is free again and the commission void; the lead stays as it is. */
export function cancelDeal(tx: Tx, id: string): Promise<Versioned<Deal>> {
  return transaction(tx, async (tx) => cancel(tx, await openDealOrRefuse(tx, id)))
}

/** Cancels the deal of a lead where that is still open, in the transaction given. */
export async function cancelOpenDealOf(tx: Tx, leadId: string): Promise<void> {
  const deal = await lockDealOfLead(tx, leadId)
  if (deal?.record.status === 'open') await cancel(tx, deal)
}

async function cancel(tx: Tx, deal: Versioned<Deal>): Promise<Versioned<Deal>> {
  const after = { ...deal.record, status: 'cancelled' as const, cancelled_at: tx.now.toISOString() }
  const cancelled = await changeRecord(tx, Deal, deal, after)
  if (after.unit_id) await setUnitStatus(tx, after.unit_id, 'available')
  await settleCommission(tx, after.id, 'void')
  return cancelled!
}

async function openDealOrRefuse(tx: Tx, id: string): Promise<Versioned<Deal>> {
  const found = await getDeal(tx, id, true)
  if (found.record.status !== 'open')
    throw conflict(`The deal is ${found.record.status}; only an open one can be closed or cancelled.`)
  return found
}

async function settleCommission(tx: Tx, dealId: string, status: 'earned' | 'void'): Promise<void> {
  const found = await findCommission(tx, dealId)
  if (found) await changeRecord(tx, Commission, found, { ...found.record, status })
}

async function makeInvoice(tx: Tx, deal: Deal): Promise<void> {
  const invoice: Invoice = {
    id: tx.newId('inv'),
    number: await nextInvoiceNumber(tx),
    deal_id: deal.id,
    amount: deal.value,
    currency: deal.currency,
    status: 'open',
    created_at: tx.now.toISOString(),
  }
  await createRecord(tx, Invoice, invoice, [event('invoice.created', invoice)])
}
