import { createItems } from '../../events/batch.ts'
import { bulkAnswer, bulkSchema, itemsBody } from '../../kernel/bulk.ts'
import { inTransaction } from '../../kernel/context.ts'
import { type Endpoint, endpoint } from '../../kernel/endpoint.ts'
import { createExampleOf } from '../../kernel/resource-schema.ts'
import { leadBatch } from './batch.ts'
import { Lead } from './schema.ts'
import { newLead } from './service.ts'

const most = 100

export const leadBulkRoutes: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/v1/leads/bulk',
    operationId: 'createLeads',
    tag: 'Leads',
    summary: 'Create many leads',
    description: `Up to ${most} leads, each of which stands alone: those that are right are created. Emits \`lead.created\` for each, and \`lead.assigned\` for those with an agent.`,
    scopes: ['write:leads'],
    body: itemsBody<{ leads: unknown[] }>({
      name: 'leads',
      item: Lead.schema.create,
      most,
      example: createExampleOf(Lead.fields),
    }),
    success: {
      status: 201,
      description: 'All were created.',
      schema: bulkSchema('created', Lead.schema.read),
      also: { status: 207, description: 'Some were created; `failed` tells why the others were not.' },
    },
    errors: { VALIDATION_ERROR: 'None could be created. `details` names fields as `leads[3].email`.' },
    handle: async ({ ctx, body }) => {
      const outcomes = await inTransaction(ctx, (tx) => createItems(tx, leadBatch, Lead, newLead, body.leads))
      return bulkAnswer('leads', 'created', outcomes)
    },
  }),
]
