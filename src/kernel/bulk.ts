import type { Answer, BodySpec } from './endpoint.ts'
import { type ApiError, invalid, type Problem } from './errors.ts'
import type { JsonSchema } from './fields.ts'

/*
 * Requests that carry many items, each of which stands alone: what can be done is done, and the
 * answer tells of every item that could not.
 */

/** One item as it came out: the record, or why there is none. */
export type Outcome<R> = { record: R } | { error: ApiError }

export const isDone = <R>(outcome: Outcome<R>): outcome is { record: R } => 'record' in outcome

interface ListBody {
  /** The field that holds the items. */
  name: string
  item: JsonSchema
  most: number
  example: unknown
}

/** A body with a list of items. They are documented as they should be, and checked one by one in the handler. */
export function itemsBody<B>({ name, item, most, example }: ListBody): BodySpec & { type?: B } {
  const bodyWith = (items: JsonSchema): JsonSchema => ({
    type: 'object',
    properties: { [name]: { type: 'array', minItems: 1, maxItems: most, items } },
    required: [name],
    additionalProperties: false,
  })
  return { schema: bodyWith({}), documented: bodyWith(item), example: { [name]: [example] } }
}

/** 201 or 200 when all items were done, 207 when some were, 422 when none was. */
export function bulkAnswer<R>(items: string, done: 'created' | 'updated', outcomes: Outcome<R>[]): Answer {
  const records = outcomes.filter(isDone).map(({ record }) => record)
  const failed = outcomes.flatMap((outcome, index) =>
    isDone(outcome) ? [] : [{ index, ...failureOf(outcome.error) }],
  )
  if (records.length === 0) {
    throw invalid(failed.flatMap(({ index, details }) => details.map(within(`${items}[${index}]`))))
  }
  return {
    status: failed.length > 0 ? 207 : done === 'created' ? 201 : 200,
    data: { [done]: records, failed },
    meta: { total: outcomes.length, [done]: records.length, failed: failed.length },
  }
}

// What concerns the item as a whole is told of the field `item`.
const failureOf = ({ code, message, details }: ApiError) => ({
  code,
  message,
  details: details ?? [{ field: 'item', message }],
})

const within =
  (item: string) =>
  ({ field, message }: Problem): Problem => ({
    field: field === 'item' || field === 'body' ? item : `${item}.${field}`,
    message,
  })

/** How the reference shows such an answer. */
export const bulkSchema = (done: 'created' | 'updated', record: JsonSchema): JsonSchema => {
  const count = { type: 'integer', minimum: 0 }
  return {
    type: 'object',
    properties: {
      success: { const: true },
      data: {
        type: 'object',
        properties: {
          [done]: { type: 'array', items: record },
          failed: { type: 'array', items: failureSchema, examples: [[]] },
        },
        required: [done, 'failed'],
      },
      meta: {
        type: 'object',
        properties: { total: count, [done]: count, failed: count },
        required: ['total', done, 'failed'],
      },
    },
    required: ['success', 'data', 'meta'],
  }
}

const failureSchema: JsonSchema = {
  type: 'object',
  properties: {
    index: { type: 'integer', minimum: 0, description: 'Its place in the request, from 0.' },
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
  },
  required: ['index', 'code', 'message', 'details'],
}
