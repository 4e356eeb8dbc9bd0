import { createItems } from '../../events/batch.ts'
import { bulkAnswer, bulkSchema, itemsBody } from '../../kernel/bulk.ts'
import { inTransaction } from '../../kernel/context.ts'
import { type BodySpec, type Endpoint, endpoint } from '../../kernel/endpoint.ts'
import { createExampleOf } from '../../kernel/resource-schema.ts'
import { setStatusOfUnits } from './bulk.ts'
import { Unit, unitStatuses } from './schema.ts'
import { newUnit, unitBatch } from './service.ts'

const tag = 'Units'
const mostCreated = 100
const mostChanged = 500

const statusBody: BodySpec & { type?: { unit_ids: string[]; status: Unit['status'] } } = {
  schema: {
    type: 'object',
    properties: {
      unit_ids: {
        type: 'array',
        minItems: 1,
        maxItems: mostChanged,
        uniqueItems: true,
        items: { type: 'string', format: 'text', minLength: 1, maxLength: 80 },
      },
      status: { type: 'string', enum: unitStatuses },
    },
    required: ['unit_ids', 'status'],
    additionalProperties: false,
  },
  example: { unit_ids: [Unit.example.id], status: 'off_market' },
}

export const unitBulkRoutes: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/v1/units/bulk',
    operationId: 'createUnits',
    tag,
    summary: 'Create many units',
    description: `Up to ${mostCreated} units, each of which stands alone: those that are right are created. Emits \`unit.created\` for each.`,
    scopes: ['write:properties'],
    body: itemsBody<{ units: unknown[] }>({
      name: 'units',
      item: Unit.schema.create,
      most: mostCreated,
      example: createExampleOf(Unit.fields),
    }),
    success: {
      status: 201,
      description: 'All were created.',
      schema: bulkSchema('created', Unit.schema.read),
      also: { status: 207, description: 'Some were created; `failed` tells why the others were not.' },
    },
    errors: { VALIDATION_ERROR: 'None could be created. `details` names fields as `units[3].name`.' },
    handle: async ({ ctx, body }) => {
      const outcomes = await inTransaction(ctx, (tx) => createItems(tx, unitBatch, Unit, newUnit, body.units))
      return bulkAnswer('units', 'created', outcomes)
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/v1/units/bulk/status',
    operationId: 'setUnitStatus',
    tag,
    summary: 'Change the status of many units',
    description: `Up to ${mostChanged} units. Emits \`unit.updated\` for each that had another status, and \`unit.sold\` when it became sold.`,
    scopes: ['write:properties'],
    body: statusBody,
    success: {
      status: 200,
      description: 'All have the status now.',
      schema: bulkSchema('updated', Unit.schema.read),
      also: { status: 207, description: 'Some have it; `failed` names those that there are not.' },
    },
    errors: { VALIDATION_ERROR: 'None of the units exists, or the body is wrong.' },
    handle: async ({ ctx, body }) => {
      const outcomes = await inTransaction(ctx, (tx) => setStatusOfUnits(tx, body.unit_ids, body.status))
      return bulkAnswer('unit_ids', 'updated', outcomes)
    },
  }),
]
