import { inWorkspace } from '../../kernel/context.ts'
import { type Endpoint, endpoint, ok, updateBody } from '../../kernel/endpoint.ts'
import { viewParams } from '../../kernel/list-query.ts'
import { dataOf, shapedBy } from '../../kernel/schemas.ts'
import { WorkspaceRecord } from './schema.ts'
import { getWorkspace, updateWorkspace } from './service.ts'

const path = '/v1/workspace'
const tag = 'Workspace'

export const workspaceRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    operationId: 'getWorkspace',
    tag,
    summary: 'Read the workspace',
    scopes: 'any',
    query: viewParams(WorkspaceRecord),
    success: {
      status: 200,
      description: 'The workspace that the credential acts in.',
      schema: dataOf(shapedBy(WorkspaceRecord.schema.read)),
    },
    handle: async ({ ctx }) => {
      const { record, version } = await inWorkspace(ctx, (tx) => getWorkspace(tx))
      return ok(record, version)
    },
  }),
  endpoint({
    method: 'PUT',
    path,
    operationId: 'updateWorkspace',
    tag,
    summary: 'Change the workspace',
    description: 'Changes the fields sent and leaves the rest.',
    scopes: ['admin'],
    body: updateBody(WorkspaceRecord, { name: 'Demo Realty International', currency: 'USD' }),
    success: {
      status: 200,
      description: 'The workspace as it is now.',
      schema: dataOf(WorkspaceRecord.schema.read),
    },
    errors: { PRECONDITION_FAILED: 'It has changed since the ETag in If-Match.' },
    handle: async ({ ctx, body, headers }) => {
      const change = await inWorkspace(ctx, (tx) => updateWorkspace(tx, body, headers['if-match']))
      return ok(change.record, change.version)
    },
  }),
]
