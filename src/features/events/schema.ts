import { eventNames } from '../../events/catalog.ts'
import { choice, integer, type Leaf, reference, text, timestamp } from '../../kernel/fields.ts'
import { defineResource, type RecordOf } from '../../kernel/resource.ts'

const data: Leaf<object, { readOnly: true; always: true; description: string; example: object }> = {
  is: 'leaf',
  pg: 'json',
  schema: { type: 'object' },
  marks: {
    readOnly: true,
    always: true,
    description: 'The record as it was then; after a change, `previous` holds the values before it.',
    example: { id: 'unit_01k9x2s5v7x9z1b3d5f7h9k2n4', status: 'sold', previous: { status: 'reserved' } },
  },
}

const number = integer(
  { min: 1, max: Number.MAX_SAFE_INTEGER },
  {
    readOnly: true,
    always: true,
    description: 'Its place among the events of the workspace: no number is left out or comes late.',
    example: 1042,
  },
)

export const EventRecord = defineResource({
  name: 'event',
  plural: 'events',
  prefix: 'evt',
  table: 'events',
  description: 'Something that happened to a record, as webhooks tell of it. Kept for 30 days.',
  fields: {
    id: reference('evt', { readOnly: true, always: true, example: 'evt_01k9x2w8y0a2c4e6g8j0m2p4r6' }),
    sequence: { ...number, pg: 'bigint' },
    event: choice(eventNames, 'text', { readOnly: true, always: true, example: 'unit.sold' }),
    resource_id: text({
      readOnly: true,
      always: true,
      description: 'The record it happened to.',
      example: 'unit_01k9x2s5v7x9z1b3d5f7h9k2n4',
    }),
    timestamp: timestamp({ readOnly: true, always: true, derived: true, description: 'When it happened.' }),
    workspace_id: reference('ws', { readOnly: true, always: true, example: 'ws_01k9x2a1c3e5g7j9m1p3r5t7v9' }),
    data,
    created_at: timestamp({ readOnly: true, always: true, description: 'The same as `timestamp`.' }),
  },
  sorts: { created_at: 'created_at' },
})

export type EventRecord = RecordOf<typeof EventRecord>
