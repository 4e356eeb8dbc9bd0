import { inWorkspace } from '../../kernel/context.ts'
import { createBody, created, type Endpoint, endpoint, noContent, ok, pageOf } from '../../kernel/endpoint.ts'
import { listParams, readListQuery, viewParams } from '../../kernel/list-query.ts'
import { dataOf, listOfData, shapedBy } from '../../kernel/schemas.ts'
import { OAuthClient } from './schema.ts'
import { createOAuthClient, deleteOAuthClient, getOAuthClient, listOAuthClients } from './service.ts'

const path = '/v1/oauth-clients'
const tag = 'OAuth clients'

const withSecret = {
  ...OAuthClient.schema.read,
  properties: {
    ...(OAuthClient.schema.read.properties as object),
    client_secret: {
      type: 'string',
      description: 'Shown only now. Public clients have none.',
      examples: ['pb_oauth_…'],
    },
  },
}

export const oauthClientRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    operationId: 'listOAuthClients',
    tag,
    summary: 'List OAuth clients',
    scopes: ['admin'],
    query: listParams(OAuthClient, {}),
    success: {
      status: 200,
      description: 'A page of clients.',
      schema: listOfData(shapedBy(OAuthClient.schema.read)),
    },
    handle: async ({ ctx, query, url }) => {
      const list = readListQuery(OAuthClient, {}, query)
      return pageOf(await inWorkspace(ctx, (tx) => listOAuthClients(tx, list)), url)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'getOAuthClient',
    tag,
    summary: 'Read an OAuth client',
    scopes: ['admin'],
    query: viewParams(OAuthClient),
    success: { status: 200, description: 'The client.', schema: dataOf(shapedBy(OAuthClient.schema.read)) },
    errors: { NOT_FOUND: 'There is no such client.' },
    handle: async ({ ctx, params }) => ok(await inWorkspace(ctx, (tx) => getOAuthClient(tx, params.id!))),
  }),
  endpoint({
    method: 'POST',
    path,
    operationId: 'createOAuthClient',
    tag,
    summary: 'Register an OAuth client',
    scopes: ['admin'],
    body: createBody(OAuthClient),
    success: { status: 201, description: 'The client, its secret shown once.', schema: dataOf(withSecret) },
    handle: async ({ ctx, body }) => {
      const client = await inWorkspace(ctx, (tx) => createOAuthClient(tx, body))
      const answer = created(client, path)
      return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } }
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:id`,
    operationId: 'deleteOAuthClient',
    tag,
    summary: 'Delete an OAuth client',
    description: 'Everything that people allowed it ends at once.',
    scopes: ['admin'],
    success: { status: 204, description: 'It is gone.' },
    errors: { NOT_FOUND: 'There is no such client.' },
    handle: async ({ ctx, params }) => {
      await inWorkspace(ctx, (tx) => deleteOAuthClient(tx, params.id!))
      return noContent()
    },
  }),
]
