import type { Tx } from '../../kernel/context.ts'
import { inWorkspace } from '../../kernel/context.ts'
import {
  createBody,
  created,
  type Endpoint,
  endpoint,
  noContent,
  ok,
  pageOf,
  updateBody,
} from '../../kernel/endpoint.ts'
import { type ListQuery, listParams, readListQuery, viewParams } from '../../kernel/list-query.ts'
import { dataOf, listOfData, shapedBy } from '../../kernel/schemas.ts'
import { getProperty } from '../properties/service.ts'
import { expandUnits, unitExpansions } from './expand.ts'
import { unitFilters } from './queries.ts'
import { Unit } from './schema.ts'
import { createUnit, getUnit, listUnits, removeUnit, updateUnit } from './service.ts'

const path = '/v1/units'
const tag = 'Units'
const shown = shapedBy(Unit.schema.read, unitExpansions)
const { property_id: _, ...filtersWithinProperty } = unitFilters

async function expandedPage(tx: Tx, query: ListQuery) {
  const page = await listUnits(tx, query)
  return { ...page, records: await expandUnits(tx, page.records, query.expand) }
}

export const unitRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    operationId: 'listUnits',
    tag,
    summary: 'List units',
    scopes: ['read:properties'],
    query: listParams(Unit, unitFilters),
    success: { status: 200, description: 'A page of units.', schema: listOfData(shown) },
    handle: async ({ ctx, query, url }) => {
      const list = readListQuery(Unit, unitFilters, query)
      return pageOf(await inWorkspace(ctx, (tx) => expandedPage(tx, list)), url)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/properties/:id/units',
    operationId: 'listPropertyUnits',
    tag,
    summary: 'List the units of a property',
    scopes: ['read:properties'],
    query: listParams(Unit, filtersWithinProperty),
    success: { status: 200, description: 'A page of the units of the property.', schema: listOfData(shown) },
    errors: { NOT_FOUND: 'There is no such property.' },
    handle: async ({ ctx, params, query, url }) => {
      const list = readListQuery(Unit, filtersWithinProperty, query)
      list.filters.property_id = params.id
      const page = await inWorkspace(ctx, async (tx) => {
        const [found] = await Promise.all([expandedPage(tx, list), getProperty(tx, params.id!)])
        return found
      })
      return pageOf(page, url)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'getUnit',
    tag,
    summary: 'Read a unit',
    scopes: ['read:properties'],
    query: viewParams(Unit),
    success: { status: 200, description: 'The unit.', schema: dataOf(shown) },
    errors: { NOT_FOUND: 'There is no such unit.' },
    handle: async ({ ctx, params, query }) => {
      const { expand = [] } = query as { expand?: string[] }
      return inWorkspace(ctx, async (tx) => {
        const { record, version } = await getUnit(tx, params.id!)
        const [unit] = await expandUnits(tx, [record], expand)
        return ok(unit, version)
      })
    },
  }),
  endpoint({
    method: 'POST',
    path,
    operationId: 'createUnit',
    tag,
    summary: 'Create a unit',
    description: 'Emits `unit.created`.',
    scopes: ['write:properties'],
    body: createBody(Unit),
    success: { status: 201, description: 'The new unit.', schema: dataOf(Unit.schema.read) },
    handle: async ({ ctx, body }) => {
      const { record, version } = await inWorkspace(ctx, (tx) => createUnit(tx, body))
      return created(record, path, version)
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:id`,
    operationId: 'updateUnit',
    tag,
    summary: 'Change a unit',
    description:
      'Changes the fields sent and leaves the rest. Emits `unit.updated`, and `unit.sold` when the status became sold; nothing when the values are the same as before.',
    scopes: ['write:properties'],
    body: updateBody(Unit, { status: 'reserved', price: { amount: 415000 } }),
    success: { status: 200, description: 'The unit as it is now.', schema: dataOf(Unit.schema.read) },
    errors: {
      NOT_FOUND: 'There is no such unit.',
      CONFLICT: 'Another unit has this external id.',
      PRECONDITION_FAILED: 'It has changed since the ETag in If-Match.',
    },
    handle: async ({ ctx, params, body, headers }) => {
      const change = await inWorkspace(ctx, (tx) => updateUnit(tx, params.id!, body, headers['if-match']))
      return ok(change.record, change.version)
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:id`,
    operationId: 'deleteUnit',
    tag,
    summary: 'Delete a unit',
    description: 'Cannot be undone.',
    scopes: ['write:properties'],
    success: { status: 204, description: 'It is gone.' },
    errors: {
      NOT_FOUND: 'There is no such unit.',
      CONFLICT: 'An open or closed deal is about it.',
    },
    handle: async ({ ctx, params }) => {
      await inWorkspace(ctx, (tx) => removeUnit(tx, params.id!))
      return noContent()
    },
  }),
]
