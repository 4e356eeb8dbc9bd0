import { plans } from '../../kernel/context.ts'
import type { JsonSchema } from '../../kernel/fields.ts'

const count: JsonSchema = { type: 'integer', minimum: 0 }

const window = (description: string, example: object): JsonSchema => ({
  type: 'object',
  description,
  properties: {
    limit: { type: ['integer', 'null'], description: 'Null where there is no limit.' },
    used: count,
    remaining: { type: ['integer', 'null'] },
    reset: { type: 'string', format: 'date-time', description: 'When it starts again from zero.' },
  },
  required: ['limit', 'used', 'remaining', 'reset'],
  additionalProperties: false,
  examples: [example],
})

const reset = '2026-01-31T09:31:00.000Z'

export const RateLimit: JsonSchema = {
  type: 'object',
  properties: {
    plan: { type: 'string', enum: plans },
    minute: window('The present minute.', { limit: 120, used: 3, remaining: 117, reset }),
    daily: window('The present day in UTC.', {
      limit: 50_000,
      used: 1_834,
      remaining: 48_166,
      reset: '2026-02-01T00:00:00.000Z',
    }),
    burst: window('The present second.', {
      limit: 25,
      used: 1,
      remaining: 24,
      reset: '2026-01-31T09:30:01.000Z',
    }),
  },
  required: ['plan', 'minute', 'daily', 'burst'],
  additionalProperties: false,
}

export const Usage: JsonSchema = {
  type: 'object',
  properties: {
    date: { type: 'string', format: 'date', examples: ['2026-01-31'] },
    credential: {
      type: 'string',
      description: 'The id of the key, session or grant.',
      examples: ['key_01kg8'],
    },
    route: {
      type: 'string',
      description: 'Method and path; `unknown` for paths that do not exist.',
      examples: ['GET /v1/leads/:id'],
    },
    requests: { ...count, examples: [1_204] },
  },
  required: ['date', 'credential', 'route', 'requests'],
  additionalProperties: false,
}
