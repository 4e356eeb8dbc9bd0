import { changeEvent } from '../../events/catalog.ts'
import type { Versioned } from '../../events/change.ts'
import { type Tx, transaction } from '../../kernel/context.ts'
import { cancelOpenDealOf } from '../deals/service.ts'
import type { Lead, LeadStage, LeadUpdate, LossReason } from '../leads/schema.ts'
import { changeLead, type LeadChange } from '../leads/service.ts'

/*
 * What moves a lead along. It stands above leads and deals: a lead that leaves the stage won takes its
 * open deal along.
 */

export const updateLead = (
  tx: Tx,
  id: string,
  patch: LeadUpdate,
  ifMatch: string | undefined,
): Promise<Versioned<Lead>> =>
  move(tx, id, {
    patch,
    ifMatch,
    events: (after, previous) => [changeEvent('lead.updated', after, previous)],
  })

export interface Remarks {
  reason?: string | null
  notes?: string | null
}

export const moveToStage = (
  tx: Tx,
  id: string,
  stage: LeadStage,
  remarks: Remarks,
): Promise<Versioned<Lead>> => move(tx, id, { patch: { stage }, remarks })

/** A lead that was lost already and is lost for another reason did not move, but was updated. */
export const loseLead = (
  tx: Tx,
  id: string,
  reason: LossReason,
  notes: string | null | undefined,
): Promise<Versioned<Lead>> =>
  move(tx, id, {
    patch: { stage: 'lost', loss_reason: reason },
    remarks: { reason, notes },
    events: (after, previous) =>
      previous.stage === undefined ? [changeEvent('lead.updated', after, previous)] : [],
  })

class LeavesWon extends Error {}

/**
 * Most moves touch the lead alone and need no transaction. That one leaves the stage won is seen when
 * the lead has been read; then it starts over in a transaction that also cancels the deal.
 */
async function move(tx: Tx, id: string, change: LeadChange): Promise<Versioned<Lead>> {
  const leavesWon = (after: Lead, previous: Partial<Lead>) =>
    previous.stage === 'won' && after.stage !== 'won'
  try {
    return await changeLead(tx, id, {
      ...change,
      onChange: (after, previous) => {
        if (leavesWon(after, previous)) throw new LeavesWon()
      },
    })
  } catch (error) {
    if (!(error instanceof LeavesWon)) throw error
  }
  return transaction(tx, async (tx) => {
    let left = false
    const moved = await changeLead(tx, id, {
      ...change,
      onChange: (after, previous) => {
        left = leavesWon(after, previous)
      },
    })
    if (left) await cancelOpenDealOf(tx, id)
    return moved
  })
}
