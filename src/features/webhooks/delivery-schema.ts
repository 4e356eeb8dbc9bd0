import { eventNames } from '../../events/catalog.ts'
import type { Attempt } from '../../kernel/courier.ts'
import { choice, integer, type Leaf, longText, reference, timestamp } from '../../kernel/fields.ts'
import { defineResource, type RecordOf } from '../../kernel/resource.ts'

export const deliveryStatuses = ['delivered', 'failed'] as const
export const testEvent = 'webhook.test'
export const deliveredEvents = [...eventNames, testEvent] as const

const attempts: Leaf<Attempt[], { readOnly: true; always: true; description: string; example: Attempt[] }> = {
  is: 'leaf',
  pg: 'jsonb',
  schema: {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        timestamp: { type: 'string', format: 'date-time' },
        response_code: { type: ['integer', 'null'] },
        duration_ms: { type: 'integer' },
        error: { type: ['string', 'null'], description: 'Null when it arrived.' },
        response_body: { type: ['string', 'null'], description: 'The first 4 KiB of the answer.' },
      },
      required: ['timestamp', 'response_code', 'duration_ms', 'error', 'response_body'],
      additionalProperties: false,
    },
  },
  marks: {
    readOnly: true,
    always: true,
    description: 'Each try, oldest first; the latest hundred of them.',
    example: [
      {
        timestamp: '2026-01-31T09:30:00.000Z',
        response_code: 500,
        duration_ms: 84,
        error: 'Answered 500.',
        response_body: 'oops',
      },
    ],
  },
}

export const Delivery = defineResource({
  name: 'delivery',
  plural: 'deliveries',
  prefix: 'del',
  table: 'deliveries',
  description: 'One event on its way to one webhook, with every attempt made.',
  fields: {
    id: reference('del', { readOnly: true, always: true, example: 'del_01k9x2w9z1b3d5f7h9k1n3q5s8' }),
    webhook_id: reference('webhook', {
      readOnly: true,
      always: true,
      description: 'Where it goes.',
      example: 'webhook_01k9x2v8y0a2c4e6g8j0m2p4r7',
    }),
    event_id: reference('evt', {
      readOnly: true,
      always: true,
      description: 'What it tells of; the id in the payload, the same on every attempt.',
      example: 'evt_01k9x2w8y0a2c4e6g8j0m2p4r6',
    }),
    event: choice(deliveredEvents, 'text', { readOnly: true, always: true, example: 'unit.sold' }),
    status: choice(deliveryStatuses, 'delivery_status', {
      readOnly: true,
      always: true,
      description: 'What became of the latest attempt.',
      example: 'failed',
    }),
    response_code: integer(
      { min: 100, max: 999 },
      { readOnly: true, description: 'What the receiver answered last.', example: 500 },
    ),
    error: longText({
      readOnly: true,
      description: 'What went wrong in the latest attempt.',
      example: 'Answered 500.',
    }),
    timestamp: timestamp({
      readOnly: true,
      always: true,
      description: 'When it was last tried.',
      example: '2026-01-31T09:30:00.000Z',
    }),
    next_retry: timestamp({
      readOnly: true,
      description: 'When it is tried again, while that is so.',
      example: '2026-01-31T09:35:00.000Z',
    }),
    attempts,
    created_at: timestamp({ readOnly: true, always: true, description: 'When it was queued.' }),
  },
  sorts: { created_at: 'created_at' },
})

export type Delivery = RecordOf<typeof Delivery>
