import type { JsonSchema } from './fields.ts'

/** The envelopes of success, around whatever an operation shows. */

export const dataOf = (schema: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { success: { const: true }, data: schema },
  required: ['success', 'data'],
})

/** Where `expand` or `fields` can add to or take from a record. */
export const shapedBy = (schema: JsonSchema, expansions: Record<string, JsonSchema> = {}): JsonSchema => ({
  ...schema,
  properties: { ...(schema.properties as object), ...expansions },
  required: ['id'],
})

export const nullableObject = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: ['object', 'null'],
  properties,
  required: Object.keys(properties),
})

export const listOfData = (schema: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: {
    success: { const: true },
    data: { type: 'array', items: schema },
    meta: { $ref: '#/components/schemas/Meta' },
    links: { $ref: '#/components/schemas/Links' },
  },
  required: ['success', 'data', 'meta', 'links'],
})

const count: JsonSchema = { type: 'integer', minimum: 0 }

export const envelopeSchemas: Record<string, JsonSchema> = {
  Meta: {
    type: 'object',
    properties: {
      page: { type: ['integer', 'null'], description: 'Null on a cursor walk.' },
      per_page: count,
      total: { ...count, description: 'Exact up to 10,000; beyond that at most a few seconds old.' },
      total_pages: count,
    },
    required: ['page', 'per_page', 'total', 'total_pages'],
  },
  Links: {
    type: 'object',
    description: 'Relative paths that keep the query. `next` and `prev` are left out where there is none.',
    properties: {
      self: { type: 'string' },
      first: { type: 'string' },
      prev: { type: 'string' },
      next: { type: 'string' },
      last: { type: 'string' },
    },
    required: ['self', 'first'],
  },
  Error: {
    type: 'object',
    properties: {
      success: { const: false },
      error: {
        type: 'object',
        properties: {
          code: { type: 'string' },
          message: { type: 'string' },
          details: {
            type: 'array',
            items: {
              type: 'object',
              properties: { field: { type: 'string' }, message: { type: 'string' } },
              required: ['field', 'message'],
            },
          },
          retry_after: { type: 'integer', description: 'Seconds to wait.' },
          request_id: { type: 'string', description: 'On answers of 500 and above.' },
        },
        required: ['code', 'message'],
        additionalProperties: false,
      },
    },
    required: ['success', 'error'],
    additionalProperties: false,
  },
}
