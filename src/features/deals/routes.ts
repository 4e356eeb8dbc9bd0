import { inWorkspace } from '../../kernel/context.ts'
import { type Endpoint, endpoint, ok, pageOf } from '../../kernel/endpoint.ts'
import { listParams, readListQuery, viewParams } from '../../kernel/list-query.ts'
import { dataOf, listOfData, shapedBy } from '../../kernel/schemas.ts'
import { dealExpansions, expandDeals } from './expand.ts'
import { commissionFilters, dealFilters, invoiceFilters } from './queries.ts'
import { Commission, Deal, Invoice } from './schema.ts'
import { cancelDeal, closeDeal, getDeal, listCommissions, listDeals, listInvoices } from './service.ts'

const path = '/v1/deals'
const tag = 'Deals'
const shown = shapedBy(Deal.schema.read, dealExpansions)
const noSuchDeal = { NOT_FOUND: 'There is no such deal.' }

export const dealRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    operationId: 'listDeals',
    tag,
    summary: 'List deals',
    scopes: ['read:leads'],
    query: listParams(Deal, dealFilters),
    success: { status: 200, description: 'A page of deals.', schema: listOfData(shown) },
    handle: async ({ ctx, query, url }) => {
      const list = readListQuery(Deal, dealFilters, query)
      const page = await inWorkspace(ctx, async (tx) => {
        const found = await listDeals(tx, list)
        return { ...found, records: await expandDeals(tx, found.records, list.expand) }
      })
      return pageOf(page, url)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'getDeal',
    tag,
    summary: 'Read a deal',
    scopes: ['read:leads'],
    query: viewParams(Deal),
    success: { status: 200, description: 'The deal.', schema: dataOf(shown) },
    errors: noSuchDeal,
    handle: async ({ ctx, params, query }) => {
      const { expand = [] } = query as { expand?: string[] }
      return inWorkspace(ctx, async (tx) => {
        const { record, version } = await getDeal(tx, params.id!)
        const [deal] = await expandDeals(tx, [record], expand)
        return ok(deal, version)
      })
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/:id/close`,
    operationId: 'closeDeal',
    tag,
    summary: 'Close a deal',
    description:
      'The unit is sold, the commission earned, and an invoice made. Emits `deal.closed`, `invoice.created`, and for a unit `unit.updated` and `unit.sold`.',
    scopes: ['write:leads'],
    success: { status: 200, description: 'The deal, closed.', schema: dataOf(Deal.schema.read) },
    errors: { ...noSuchDeal, CONFLICT: 'The deal is closed or cancelled already.' },
    handle: async ({ ctx, params }) => {
      const { record, version } = await inWorkspace(ctx, (tx) => closeDeal(tx, params.id!))
      return ok(record, version)
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/:id/cancel`,
    operationId: 'cancelDeal',
    tag,
    summary: 'Cancel a deal',
    description:
      'The unit is available again and the commission void; the lead stays in its stage. Emits `unit.updated` for the unit.',
    scopes: ['write:leads'],
    success: { status: 200, description: 'The deal, cancelled.', schema: dataOf(Deal.schema.read) },
    errors: { ...noSuchDeal, CONFLICT: 'The deal is closed or cancelled already.' },
    handle: async ({ ctx, params }) => {
      const { record, version } = await inWorkspace(ctx, (tx) => cancelDeal(tx, params.id!))
      return ok(record, version)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/commissions',
    operationId: 'listCommissions',
    tag,
    summary: 'List commissions',
    scopes: ['read:leads'],
    query: listParams(Commission, commissionFilters),
    success: {
      status: 200,
      description: 'A page of commissions.',
      schema: listOfData(shapedBy(Commission.schema.read)),
    },
    handle: async ({ ctx, query, url }) => {
      const list = readListQuery(Commission, commissionFilters, query)
      return pageOf(await inWorkspace(ctx, (tx) => listCommissions(tx, list)), url)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/invoices',
    operationId: 'listInvoices',
    tag,
    summary: 'List invoices',
    scopes: ['read:leads'],
    query: listParams(Invoice, invoiceFilters),
    success: {
      status: 200,
      description: 'A page of invoices.',
      schema: listOfData(shapedBy(Invoice.schema.read)),
    },
    handle: async ({ ctx, query, url }) => {
      const list = readListQuery(Invoice, invoiceFilters, query)
      return pageOf(await inWorkspace(ctx, (tx) => listInvoices(tx, list)), url)
    },
  }),
]
