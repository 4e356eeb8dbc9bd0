import { choice, currency, longText, money, number, reference, text, timestamp } from '../../kernel/fields.ts'
import { defineResource, type RecordOf } from '../../kernel/resource.ts'

export const dealStatuses = ['open', 'closed', 'cancelled'] as const
export const commissionStatuses = ['pending', 'earned', 'void'] as const
export const invoiceStatuses = ['open'] as const

const readOnly = { readOnly: true } as const
const always = { readOnly: true, always: true } as const
const dealId = 'deal_01k9x2z2c4e6g8j0m3p5r7t9w1'
const agentId = 'agent_01k9x2t6w8y0a2c4e6g8j0m3p5'

export const Deal = defineResource({
  name: 'deal',
  plural: 'deals',
  prefix: 'deal',
  table: 'deals',
  description: 'What winning a lead opens: a sale that is closed in the end, or cancelled.',
  fields: {
    id: reference('deal', { ...always, example: dealId }),
    lead_id: reference('lead', { ...always, example: 'lead_01k9x2w9z1b3d5f7h9k2n4q6s8' }),
    property_id: reference('prop', { ...always, example: 'prop_01k9x2r4t6v8y0a1c3e5g7j9m1' }),
    unit_id: reference('unit', {
      ...readOnly,
      description: 'Null where the property is sold as a whole.',
      example: 'unit_01k9x2s5v7x9z1b3d5f7h9k2n4',
    }),
    agent_id: reference('agent', { ...readOnly, description: 'Whose lead it was.', example: agentId }),
    value: money({ ...always, example: 420000 }),
    currency: currency({
      ...always,
      description: "The unit's, else the property's, else the lead's, else the workspace's.",
      example: 'USD',
    }),
    status: choice(dealStatuses, 'deal_status', { ...always, example: 'open' }),
    notes: longText({ ...readOnly, example: 'Ten percent paid on signing.' }),
    created_at: timestamp({ ...always }),
    closed_at: timestamp({ ...readOnly }),
    cancelled_at: timestamp({ ...readOnly }),
  },
  sorts: { created_at: 'created_at', closed_at: 'closed_at', value: 'value', status: 'status' },
  expands: ['lead', 'agent', 'unit', 'property'],
})
export type Deal = RecordOf<typeof Deal>

export const Commission = defineResource({
  name: 'commission',
  plural: 'commissions',
  prefix: 'comm',
  table: 'commissions',
  description: 'What an agent earns of a deal: pending while it is open, earned when it closes.',
  fields: {
    id: reference('comm', { ...always, example: 'comm_01k9x303d5f7h9k2n4q6s8v0x2' }),
    deal_id: reference('deal', { ...always, example: dealId }),
    agent_id: reference('agent', { ...readOnly, example: agentId }),
    rate: number(
      { min: 0, max: 1 },
      { ...readOnly, description: "The agent's rate; null where the amount was given.", example: 0.03 },
    ),
    amount: money({ ...always, example: 12600 }),
    currency: currency({ ...always, example: 'USD' }),
    status: choice(commissionStatuses, 'commission_status', { ...always, example: 'pending' }),
    created_at: timestamp({ ...always }),
  },
  sorts: { created_at: 'created_at', amount: 'amount' },
})
export type Commission = RecordOf<typeof Commission>

export const Invoice = defineResource({
  name: 'invoice',
  plural: 'invoices',
  prefix: 'inv',
  table: 'invoices',
  description: 'Made when a deal closes. Numbers of a workspace follow each other without gaps.',
  fields: {
    id: reference('inv', { ...always, example: 'inv_01k9x314e6g8j0m3p5r7t9w1y3' }),
    number: text({ ...always, example: 'INV-000001' }),
    deal_id: reference('deal', { ...always, example: dealId }),
    amount: money({ ...always, description: 'The value of the deal.', example: 420000 }),
    currency: currency({ ...always, example: 'USD' }),
    status: choice(invoiceStatuses, 'invoice_status', { ...always, example: 'open' }),
    created_at: timestamp({ ...always }),
  },
  sorts: { created_at: 'created_at', number: 'number', amount: 'amount' },
})
export type Invoice = RecordOf<typeof Invoice>
