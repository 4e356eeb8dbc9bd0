import { inWorkspace } from '../../kernel/context.ts'
import { createBody, created, type Endpoint, endpoint, noContent, ok, pageOf } from '../../kernel/endpoint.ts'
import { listParams, readListQuery, viewParams } from '../../kernel/list-query.ts'
import { dataOf, listOfData, shapedBy } from '../../kernel/schemas.ts'
import { ApiKey } from './schema.ts'
import { createApiKey, getApiKey, keyFilters, listApiKeys, revokeApiKey } from './service.ts'

const path = '/v1/api-keys'
const tag = 'API keys'

const withKey = {
  ...ApiKey.schema.read,
  properties: {
    ...(ApiKey.schema.read.properties as object),
    key: { type: 'string', description: 'The key itself, shown only now.', examples: ['pb_live_…'] },
  },
  required: [...(ApiKey.schema.read.required as string[]), 'key'],
}

export const apiKeyRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    operationId: 'listApiKeys',
    tag,
    summary: 'List API keys',
    description: 'Revoked keys included. On the production host also the test keys of the sandbox.',
    scopes: ['admin'],
    query: listParams(ApiKey, keyFilters),
    success: {
      status: 200,
      description: 'A page of keys.',
      schema: listOfData(shapedBy(ApiKey.schema.read)),
    },
    handle: async ({ ctx, query, url }) => {
      const list = readListQuery(ApiKey, keyFilters, query)
      return pageOf(await inWorkspace(ctx, (tx) => listApiKeys(tx, list)), url)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'getApiKey',
    tag,
    summary: 'Read an API key',
    scopes: ['admin'],
    query: viewParams(ApiKey),
    success: { status: 200, description: 'The key.', schema: dataOf(shapedBy(ApiKey.schema.read)) },
    errors: { NOT_FOUND: 'There is no such key.' },
    handle: async ({ ctx, params }) => ok(await inWorkspace(ctx, (tx) => getApiKey(tx, params.id!))),
  }),
  endpoint({
    method: 'POST',
    path,
    operationId: 'createApiKey',
    tag,
    summary: 'Create an API key',
    scopes: ['admin'],
    body: createBody(ApiKey),
    success: { status: 201, description: 'The key, shown once.', schema: dataOf(withKey) },
    handle: async ({ ctx, body }) => {
      const key = await inWorkspace(ctx, (tx) => createApiKey(tx, body))
      const answer = created(key, path)
      return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } }
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:id`,
    operationId: 'revokeApiKey',
    tag,
    summary: 'Revoke an API key',
    description: 'It fails from now on, on every server. It stays in the list.',
    scopes: ['admin'],
    success: { status: 204, description: 'It is revoked.' },
    errors: { NOT_FOUND: 'There is no such key.' },
    handle: async ({ ctx, params }) => {
      await inWorkspace(ctx, (tx) => revokeApiKey(tx, params.id!))
      return noContent()
    },
  }),
]
