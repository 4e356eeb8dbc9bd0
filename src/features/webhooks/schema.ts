import { eventNames } from '../../events/catalog.ts'
import { payloadFormats } from '../../kernel/courier.ts'
import {
  choice,
  flag,
  group,
  integer,
  listOf,
  longText,
  reference,
  text,
  timestamp,
  url,
} from '../../kernel/fields.ts'
import {
  type CreateOf,
  defineResource,
  type RecordOf,
  timestamps,
  type UpdateOf,
} from '../../kernel/resource.ts'

export const subscriptions = [...eventNames, '*'] as const
const subscriptionList = listOf(choice(subscriptions, 'text', {}), {
  required: true,
  description: 'The events it is told of; `*` stands for all of them.',
  example: ['property.created', 'unit.sold'],
})

const anyCount = { min: 0, max: 2_147_483_647 }
const count = (description: string, example: number) =>
  integer(anyCount, { readOnly: true, always: true, description, example })

export const Webhook = defineResource({
  name: 'webhook',
  plural: 'webhooks',
  prefix: 'webhook',
  table: 'webhooks',
  description: 'A subscription: where to send events, and which.',
  fields: {
    id: reference('webhook', {
      readOnly: true,
      always: true,
      example: 'webhook_01k9x2v8y0a2c4e6g8j0m2p4r7',
    }),
    url: url({
      required: true,
      description:
        'Where events are posted. Loopback, private and reserved addresses are refused, also when a name leads to one.',
      example: 'https://hooks.example.com/plotbase',
    }),
    events: { ...subscriptionList, schema: { ...subscriptionList.schema, minItems: 1, uniqueItems: true } },
    format: choice(payloadFormats, 'webhook_format', {
      default: 'current',
      description: 'The shape of what is sent; `legacy` is the older one and deprecated.',
      example: 'current',
    }),
    active: flag({ default: true, description: 'Whether events are sent.', example: true }),
    disabled_reason: longText({ readOnly: true, description: 'Why it was turned off by us.' }),
    disabled_at: timestamp({ readOnly: true, description: 'When that was.' }),
    last_triggered: timestamp({
      readOnly: true,
      description: 'When something was last sent to it.',
      example: '2026-01-31T09:30:00.000Z',
    }),
    stats: group(
      {
        deliveries_total: count('Deliveries tried at least once.', 128),
        deliveries_successful: count('Those of them that arrived.', 127),
        deliveries_failed: count('Those of them that have not.', 1),
      },
      { readOnly: true, always: true, description: 'What became of its deliveries.' },
    ),
    ...timestamps,
  },
  sorts: { created_at: 'created_at' },
})

export type Webhook = RecordOf<typeof Webhook>
export type WebhookCreate = CreateOf<typeof Webhook> & { secret?: string | null }
export type WebhookUpdate = UpdateOf<typeof Webhook> & { secret?: string | null }

const secretField = text(
  {
    description:
      'What signatures are made with, 16 to 256 characters; made up unless given, and shown only when it is set.',
    example: 'whsec_3q2+7wDvqkV0Yz1cF9m8n7b6v5c4x3z2a1s0d9f8g7c=',
  },
  256,
)
export const secret = { ...secretField, schema: { ...secretField.schema, minLength: 16 } }
