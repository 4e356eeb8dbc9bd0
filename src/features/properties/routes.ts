import { inWorkspace } from '../../kernel/context.ts'
import {
  createBody,
  created,
  type Endpoint,
  endpoint,
  ok,
  pageOf,
  updateBody,
} from '../../kernel/endpoint.ts'
import { listParams, readListQuery, viewParams } from '../../kernel/list-query.ts'
import { dataOf, listOfData, shapedBy } from '../../kernel/schemas.ts'
import { propertyFilters } from './queries.ts'
import { Property } from './schema.ts'
import { createProperty, getProperty, listProperties, removeProperty, updateProperty } from './service.ts'

const path = '/v1/properties'
const tag = 'Properties'

export const propertyRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    operationId: 'listProperties',
    tag,
    summary: 'List properties',
    scopes: ['read:properties'],
    query: listParams(Property, propertyFilters),
    success: {
      status: 200,
      description: 'A page of properties.',
      schema: listOfData(shapedBy(Property.schema.read)),
    },
    handle: async ({ ctx, query, url }) => {
      const list = readListQuery(Property, propertyFilters, query)
      return pageOf(await inWorkspace(ctx, (tx) => listProperties(tx, list)), url)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'getProperty',
    tag,
    summary: 'Read a property',
    scopes: ['read:properties'],
    query: viewParams(Property),
    success: { status: 200, description: 'The property.', schema: dataOf(shapedBy(Property.schema.read)) },
    errors: { NOT_FOUND: 'There is no such property.' },
    handle: async ({ ctx, params }) => {
      const { record, version } = await inWorkspace(ctx, (tx) => getProperty(tx, params.id!))
      return ok(record, version)
    },
  }),
  endpoint({
    method: 'POST',
    path,
    operationId: 'createProperty',
    tag,
    summary: 'Create a property',
    description: 'Emits `property.created`.',
    scopes: ['write:properties'],
    body: createBody(Property),
    success: { status: 201, description: 'The new property.', schema: dataOf(Property.schema.read) },
    handle: async ({ ctx, body }) => {
      const { record, version } = await inWorkspace(ctx, (tx) => createProperty(tx, body))
      return created(record, path, version)
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:id`,
    operationId: 'updateProperty',
    tag,
    summary: 'Change a property',
    description:
      'Changes the fields sent and leaves the rest. Emits `property.updated`, and `property.status_changed` when the status changed; nothing when the values are the same as before.',
    scopes: ['write:properties'],
    body: updateBody(Property, { status: 'completed', pricing: { max_price: 1350000 } }),
    success: { status: 200, description: 'The property as it is now.', schema: dataOf(Property.schema.read) },
    errors: {
      NOT_FOUND: 'There is no such property.',
      CONFLICT: 'Another property has this external id.',
      PRECONDITION_FAILED: 'It has changed since the ETag in If-Match.',
    },
    handle: async ({ ctx, params, body, headers }) => {
      const change = await inWorkspace(ctx, (tx) => updateProperty(tx, params.id!, body, headers['if-match']))
      return ok(change.record, change.version)
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:id`,
    operationId: 'deleteProperty',
    tag,
    summary: 'Delete a property and its units',
    description: 'Cannot be undone.',
    scopes: ['write:properties'],
    success: {
      status: 200,
      description: 'It is gone.',
      schema: dataOf({
        type: 'object',
        properties: { id: { type: 'string' }, deleted: { const: true } },
        required: ['id', 'deleted'],
      }),
      example: { id: Property.example.id, deleted: true },
    },
    errors: {
      NOT_FOUND: 'There is no such property.',
      CONFLICT: 'An open or closed deal is about it or one of its units.',
    },
    handle: async ({ ctx, params }) => {
      await inWorkspace(ctx, (tx) => removeProperty(tx, params.id!))
      return ok({ id: params.id, deleted: true })
    },
  }),
]
