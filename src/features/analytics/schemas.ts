import type { JsonSchema } from '../../kernel/fields.ts'
import { leadSources, leadStages } from '../leads/schema.ts'
import { unitStatuses } from '../units/schema.ts'

/** The shapes of the figures, as the reference shows them. */

const object = (properties: Record<string, JsonSchema>, extra: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...extra,
})
const list = (items: JsonSchema, description?: string): JsonSchema => ({
  type: 'array',
  items,
  ...(description && { description }),
})
const count = { type: 'integer', minimum: 0, examples: [12] }
const share = { type: 'number', minimum: 0, maximum: 1, examples: [0.25] }
const day = { type: 'string', format: 'date', examples: ['2026-03-01'] }
const days = { start_date: day, end_date: day }
const amounts = list(
  object({ currency: { type: 'string', examples: ['USD'] }, amount: { type: 'number', examples: [420000] } }),
  'One sum per currency; sums of different currencies are never added.',
)
const deals = object({ deals: count, amounts })
const stage = { type: 'string', enum: leadStages }
const byStatus = object(Object.fromEntries(unitStatuses.map((status) => [status, count])))
const stock = { units: count, by_status: byStatus, sell_through: share }
const outcome = { leads: count, won: count, lost: count, conversion_rate: share }

export const figureSchemas = {
  overview: object({
    ...days,
    leads: object({ created: count, active: count, won: count, lost: count, conversion_rate: share }),
    opened: deals,
    closed: deals,
    inventory: object(stock),
  }),
  pipeline: object({
    ...days,
    stages: list(
      object({
        stage,
        leads: count,
        value: amounts,
        median_days: {
          type: ['number', 'null'],
          description: 'Spent there by leads that left it in these days.',
          examples: [3.5],
        },
      }),
    ),
    conversions: list(
      object({
        from: stage,
        to: stage,
        leads: count,
        rate: { ...share, description: 'Of all that left `from` in these days.' },
      }),
    ),
  }),
  sources: object({
    ...days,
    sources: list(
      object({
        source: { type: 'string', enum: leadSources },
        ...outcome,
        deals_closed: count,
        revenue: amounts,
      }),
    ),
  }),
  agents: object({
    ...days,
    agents: list(
      object({
        agent_id: { type: 'string' },
        name: { type: 'string', examples: ['Sara Almeida'] },
        ...outcome,
        deals_closed: count,
        revenue: amounts,
      }),
      'Those who sold most come first.',
    ),
  }),
  revenue: object({
    ...days,
    interval: { type: 'string', enum: ['week', 'month'] },
    periods: list(object({ start_date: day, closed: deals, opened: deals })),
  }),
  inventory: object({
    ...stock,
    available_value: amounts,
    properties: list(
      object({
        property_id: { type: 'string' },
        name: { type: 'string' },
        ...stock,
        available_value: amounts,
      }),
    ),
  }),
} satisfies Record<string, JsonSchema>
