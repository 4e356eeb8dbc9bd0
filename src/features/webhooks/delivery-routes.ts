import { inWorkspace } from '../../kernel/context.ts'
import { bodyOf, type Endpoint, endpoint, ok, pageOf } from '../../kernel/endpoint.ts'
import { timestamp } from '../../kernel/fields.ts'
import { listParams, readListQuery } from '../../kernel/list-query.ts'
import { dataOf, listOfData, shapedBy } from '../../kernel/schemas.ts'
import { listDeliveries, recoverDeliveries, retryDelivery, sendTest } from './deliveries.ts'
import { deliveryFilters } from './delivery-queries.ts'
import { Delivery, deliveryStatuses } from './delivery-schema.ts'
import { path, scopes, tag } from './routes.ts'

const missing = 'There is no such webhook.'
const inactive = 'The webhook is not active.'

export const deliveryRoutes: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: `${path}/:id/test`,
    operationId: 'testWebhook',
    tag,
    summary: 'Send a test event',
    waitsForOthers: true,
    description:
      'Sends `webhook.test` at once, to inactive webhooks too, and answers with what the receiver did. A test is listed and counted, is never retried and never turns a webhook off.',
    scopes,
    success: {
      status: 200,
      description: 'What became of it.',
      schema: dataOf({
        type: 'object',
        properties: {
          delivery_id: { type: 'string', examples: [Delivery.example.id] },
          status: { type: 'string', enum: deliveryStatuses, examples: ['delivered'] },
          response_code: { type: ['integer', 'null'], examples: [200] },
          response_time_ms: { type: 'integer', examples: [84] },
          error: { type: ['string', 'null'], examples: [null] },
        },
        required: ['delivery_id', 'status', 'response_code', 'response_time_ms', 'error'],
      }),
    },
    errors: { NOT_FOUND: missing },
    handle: async ({ ctx, params }) => ok(await inWorkspace(ctx, (tx) => sendTest(tx, params.id!))),
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id/deliveries`,
    operationId: 'listWebhookDeliveries',
    tag,
    summary: 'List the deliveries of a webhook',
    description: 'Those tried at least once, kept for 30 days.',
    scopes,
    query: listParams(Delivery, deliveryFilters),
    success: {
      status: 200,
      description: 'A page of deliveries.',
      schema: listOfData(shapedBy(Delivery.schema.read)),
    },
    errors: { NOT_FOUND: missing },
    handle: async ({ ctx, params, query, url }) => {
      const list = readListQuery(Delivery, deliveryFilters, query)
      return pageOf(await inWorkspace(ctx, (tx) => listDeliveries(tx, params.id!, list)), url)
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/:id/deliveries/:delivery_id/retry`,
    operationId: 'retryWebhookDelivery',
    tag,
    summary: 'Send a failed delivery again',
    description: 'It is queued at once, and its schedule starts anew should it fail again.',
    scopes,
    success: { status: 202, description: 'The delivery, queued.', schema: dataOf(Delivery.schema.read) },
    errors: {
      NOT_FOUND: 'There is no such webhook or delivery.',
      CONFLICT: `It has arrived, is a test, or is being tried at this moment; or: ${inactive}`,
    },
    handle: async ({ ctx, params }) => {
      const delivery = await inWorkspace(ctx, (tx) => retryDelivery(tx, params.id!, params.delivery_id!))
      return { status: 202, data: delivery }
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/:id/recover`,
    operationId: 'recoverWebhook',
    tag,
    summary: 'Send all failed deliveries again',
    description: 'Queues every failed delivery that was made since the time given, tests aside.',
    scopes,
    body: bodyOf({
      since: timestamp({
        required: true,
        description: 'Deliveries of events from before are left alone.',
        example: '2026-01-31T00:00:00Z',
      }),
    }),
    success: {
      status: 202,
      description: 'How many there are.',
      schema: dataOf({
        type: 'object',
        properties: { requeued: { type: 'integer', minimum: 0, examples: [12] } },
        required: ['requeued'],
      }),
    },
    errors: { NOT_FOUND: missing, CONFLICT: inactive },
    handle: async ({ ctx, params, body }) => {
      const since = new Date(body.since)
      const requeued = await inWorkspace(ctx, (tx) => recoverDeliveries(tx, params.id!, since))
      return { status: 202, data: { requeued } }
    },
  }),
]
