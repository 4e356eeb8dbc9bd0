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
import { teamFilters } from './queries.ts'
import { Team } from './schema.ts'
import { createTeam, getTeam, listTeams, updateTeam } from './service.ts'

const path = '/v1/teams'
const tag = 'Teams'
const shown = shapedBy(Team.schema.read)

export const teamRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    operationId: 'listTeams',
    tag,
    summary: 'List teams',
    scopes: ['read:agents'],
    query: listParams(Team, teamFilters),
    success: { status: 200, description: 'A page of teams.', schema: listOfData(shown) },
    handle: async ({ ctx, query, url }) => {
      const list = readListQuery(Team, teamFilters, query)
      return pageOf(await inWorkspace(ctx, (tx) => listTeams(tx, list)), url)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'getTeam',
    tag,
    summary: 'Read a team',
    scopes: ['read:agents'],
    query: viewParams(Team),
    success: { status: 200, description: 'The team.', schema: dataOf(shown) },
    errors: { NOT_FOUND: 'There is no such team.' },
    handle: async ({ ctx, params }) => {
      const { record, version } = await inWorkspace(ctx, (tx) => getTeam(tx, params.id!))
      return ok(record, version)
    },
  }),
  endpoint({
    method: 'POST',
    path,
    operationId: 'createTeam',
    tag,
    summary: 'Create a team',
    scopes: ['write:agents'],
    body: createBody(Team),
    success: { status: 201, description: 'The new team.', schema: dataOf(Team.schema.read) },
    handle: async ({ ctx, body }) => {
      const { record, version } = await inWorkspace(ctx, (tx) => createTeam(tx, body))
      return created(record, path, version)
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:id`,
    operationId: 'updateTeam',
    tag,
    summary: 'Change a team',
    scopes: ['write:agents'],
    body: updateBody(Team, { name: 'Waterfront and marina' }),
    success: { status: 200, description: 'The team as it is now.', schema: dataOf(Team.schema.read) },
    errors: {
      NOT_FOUND: 'There is no such team.',
      PRECONDITION_FAILED: 'It has changed since the ETag in If-Match.',
    },
    handle: async ({ ctx, params, body, headers }) => {
      const change = await inWorkspace(ctx, (tx) => updateTeam(tx, params.id!, body, headers['if-match']))
      return ok(change.record, change.version)
    },
  }),
]
