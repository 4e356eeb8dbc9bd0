import type { Versioned } from '../../events/change.ts'
import type { Tx } from '../../kernel/context.ts'
import { anyOf, equalsText, type Filters, onOrAfterDay, onOrBeforeDay } from '../../kernel/filters.ts'
import { type ListSource, listPage, type Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { type Fragment, nothing, raw } from '../../kernel/sql.ts'
import { Commission, commissionStatuses, Deal, dealStatuses, Invoice, invoiceStatuses } from './schema.ts'

const createdWithin = (resource: { column(path: string): string }, plural: string): Filters => ({
  created_after: onOrAfterDay(
    resource.column('created_at'),
    `Only ${plural} made on this day (UTC) or later.`,
  ),
  created_before: onOrBeforeDay(
    resource.column('created_at'),
    `Only ${plural} made on this day (UTC) or earlier.`,
  ),
})

export const dealFilters: Filters = {
  status: anyOf(Deal.column('status'), 'deal_status', dealStatuses, 'Only deals with this status.'),
  agent_id: equalsText(Deal.column('agent_id'), 'Only deals of this agent.'),
  lead_id: equalsText(Deal.column('lead_id'), 'Only deals of this lead.'),
  property_id: equalsText(Deal.column('property_id'), 'Only deals about this property or its units.'),
  unit_id: equalsText(Deal.column('unit_id'), 'Only deals about this unit.'),
  ...createdWithin(Deal, 'deals'),
}

export const commissionFilters: Filters = {
  status: anyOf(
    Commission.column('status'),
    'commission_status',
    commissionStatuses,
    'Only commissions with this status.',
  ),
  agent_id: equalsText(Commission.column('agent_id'), 'Only commissions of this agent.'),
  deal_id: equalsText(Commission.column('deal_id'), 'Only the commission of this deal.'),
  ...createdWithin(Commission, 'commissions'),
}

export const invoiceFilters: Filters = {
  status: anyOf(
    Invoice.column('status'),
    'invoice_status',
    invoiceStatuses,
    'Only invoices with this status.',
  ),
  deal_id: equalsText(Invoice.column('deal_id'), 'Only the invoice of this deal.'),
  ...createdWithin(Invoice, 'invoices'),
}

/** Deals for lists and exports. */
export const dealSource = ({ sql }: Tx): ListSource<Deal> => ({
  resource: Deal,
  filters: dealFilters,
  select: raw(sql, Deal.selectList),
  fromRow: Deal.fromRow,
})

export const listDeals = (tx: Tx, query: ListQuery): Promise<Page<Deal>> =>
  listPage(tx, dealSource(tx), query)

export const listCommissions = (tx: Tx, query: ListQuery): Promise<Page<Commission>> =>
  listPage(
    tx,
    {
      resource: Commission,
      filters: commissionFilters,
      select: raw(tx.sql, Commission.selectList),
      fromRow: Commission.fromRow,
    },
    query,
  )

export const listInvoices = (tx: Tx, query: ListQuery): Promise<Page<Invoice>> =>
  listPage(
    tx,
    {
      resource: Invoice,
      filters: invoiceFilters,
      select: raw(tx.sql, Invoice.selectList),
      fromRow: Invoice.fromRow,
    },
    query,
  )

export const findDeal = (tx: Tx, id: string, lock = false): Promise<Versioned<Deal> | undefined> =>
  dealWhere(tx, tx.sql`deals.id = ${id}`, lock)

/** The deal that a lead has: open or closed, never a cancelled one. */
export const lockDealOfLead = (tx: Tx, leadId: string): Promise<Versioned<Deal> | undefined> =>
  dealWhere(tx, tx.sql`deals.lead_id = ${leadId} and deals.status <> 'cancelled'`, true)

export const openDealOfUnit = (tx: Tx, unitId: string): Promise<Versioned<Deal> | undefined> =>
  dealWhere(tx, tx.sql`deals.unit_id = ${unitId} and deals.status = 'open'`, false)

export const closedDealOfUnit = (tx: Tx, unitId: string): Promise<Versioned<Deal> | undefined> =>
  dealWhere(tx, tx.sql`deals.unit_id = ${unitId} and deals.status = 'closed'`, false)

async function dealWhere(tx: Tx, condition: Fragment, lock: boolean): Promise<Versioned<Deal> | undefined> {
  const { sql } = tx
  const [row] = await sql`
    select ${raw(sql, Deal.selectList)}, deals.version from deals
    where deals.workspace_id = ${tx.workspaceId} and ${condition}
    ${lock ? sql`for update` : nothing(sql)}`
  return row && { record: Deal.fromRow(row), version: row.version }
}

export async function findCommission(tx: Tx, dealId: string): Promise<Versioned<Commission> | undefined> {
  const { sql } = tx
  const [row] = await sql`
    select ${raw(sql, Commission.selectList)}, commissions.version from commissions
    where commissions.workspace_id = ${tx.workspaceId} and commissions.deal_id = ${dealId}
    for update`
  return row && { record: Commission.fromRow(row), version: row.version }
}

/** The next number of an invoice. It is taken only if the transaction succeeds; until then others wait. */
export async function nextInvoiceNumber({ sql, workspaceId }: Tx): Promise<string> {
  const [row] = await sql`
    insert into invoice_numbers (workspace_id, last) values (${workspaceId}, 1)
    on conflict (workspace_id) do update set last = invoice_numbers.last + 1
    returning last`
  return `INV-${String(row!.last).padStart(6, '0')}`
}

/** Those of the leads who had a deal that was cancelled in this time. */
export async function leadsWithDealCancelled(
  { sql, workspaceId }: Tx,
  leadIds: string[],
  { from, to }: { from: string; to: string },
): Promise<string[]> {
  const rows = await sql`
    select distinct lead_id as id from deals
    where workspace_id = ${workspaceId} and lead_id = any(${leadIds}) and status = 'cancelled'
      and cancelled_at between ${from} and ${to}`
  return rows.map((row) => row.id)
}
