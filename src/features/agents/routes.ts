import { inWorkspace } from '../../kernel/context.ts'
import {
  bodyOf,
  createBody,
  created,
  type Endpoint,
  endpoint,
  ok,
  openEndpoint,
  pageOf,
  updateBody,
} from '../../kernel/endpoint.ts'
import { text } from '../../kernel/fields.ts'
import { listParams, readListQuery, viewParams } from '../../kernel/list-query.ts'
import { booleanParam, dateParam, oneOfParam } from '../../kernel/query.ts'
import { dataOf, listOfData, shapedBy } from '../../kernel/schemas.ts'
import { newPassword } from '../accounts/people.ts'
import { agentExpansions, expandAgents } from './expand.ts'
import { acceptInvitation } from './invitations.ts'
import { periods } from './period.ts'
import { agentFilters } from './queries.ts'
import { Agent } from './schema.ts'
import { createAgent, getAgent, listAgents, updateAgent } from './service.ts'
import { agentStats, agentStatsSchema } from './stats.ts'

const path = '/v1/agents'
const tag = 'Agents'
const shown = shapedBy(Agent.schema.read, agentExpansions)

export const agentRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    operationId: 'listAgents',
    tag,
    summary: 'List agents',
    scopes: ['read:agents'],
    query: listParams(Agent, agentFilters),
    success: { status: 200, description: 'A page of agents with their figures.', schema: listOfData(shown) },
    handle: async ({ ctx, query, url }) => {
      const list = readListQuery(Agent, agentFilters, query)
      const page = await inWorkspace(ctx, async (tx) => {
        const found = await listAgents(tx, list)
        return { ...found, records: await expandAgents(tx, found.records, list.expand) }
      })
      return pageOf(page, url)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'getAgent',
    tag,
    summary: 'Read an agent',
    scopes: ['read:agents'],
    query: {
      include_stats: booleanParam('Count the figures in `stats`, which are null otherwise.'),
      ...viewParams(Agent),
    },
    success: { status: 200, description: 'The agent.', schema: dataOf(shown) },
    errors: { NOT_FOUND: 'There is no such agent.' },
    handle: async ({ ctx, params, query }) => {
      const { expand = [] } = query as { expand?: string[] }
      return inWorkspace(ctx, async (tx) => {
        const { record, version } = await getAgent(tx, params.id!, query.include_stats as boolean | undefined)
        const [agent] = await expandAgents(tx, [record], expand)
        return ok(agent, version)
      })
    },
  }),
  endpoint({
    method: 'POST',
    path,
    operationId: 'createAgent',
    tag,
    summary: 'Invite an agent',
    description:
      'Adds the agent as `invited` and sends the invitation, which can be accepted once within 7 days. Giving the role owner or admin needs the scope `admin`. Emits `agent.created`.',
    scopes: ['write:agents'],
    body: createBody(Agent),
    success: { status: 201, description: 'The new agent.', schema: dataOf(Agent.schema.read) },
    errors: { CONFLICT: 'Another agent of the workspace has this e-mail address.' },
    handle: async ({ ctx, body }) => {
      const baseUrl = ctx.urls[ctx.principal.workspace.environment]
      const { record, version } = await inWorkspace(ctx, (tx) => createAgent(tx, body, baseUrl))
      return created(record, path, version)
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:id`,
    operationId: 'updateAgent',
    tag,
    summary: 'Change an agent',
    description:
      'Changes the fields sent and leaves the rest. `status: active` brings an inactive agent back. A new e-mail address for somebody who has not joined yet sends a new invitation there. Emits no event.',
    scopes: ['write:agents'],
    body: updateBody(Agent, { commission: { tier: 'senior', rate: 0.04 } }),
    success: { status: 200, description: 'The agent as they are now.', schema: dataOf(Agent.schema.read) },
    errors: {
      NOT_FOUND: 'There is no such agent.',
      CONFLICT: 'The e-mail address is taken, the status cannot follow, or it is the last active owner.',
      PRECONDITION_FAILED: 'They have changed since the ETag in If-Match.',
    },
    handle: async ({ ctx, params, body, headers }) => {
      const baseUrl = ctx.urls[ctx.principal.workspace.environment]
      const change = await inWorkspace(ctx, (tx) =>
        updateAgent(tx, params.id!, body, headers['if-match'], baseUrl),
      )
      return ok(change.record, change.version)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id/stats`,
    operationId: 'getAgentStats',
    tag,
    summary: "Read an agent's figures",
    description:
      'Of the current calendar period in UTC, or of the dates given, both included. Counted from the records each time.',
    scopes: ['read:analytics'],
    query: {
      period: oneOfParam(periods, 'The calendar period, `month` unless given.'),
      start_date: dateParam('The first day; takes the place of the period.'),
      end_date: dateParam('The last day; today unless given.'),
    },
    success: { status: 200, description: 'The figures.', schema: dataOf(agentStatsSchema) },
    errors: { NOT_FOUND: 'There is no such agent.' },
    handle: async ({ ctx, params, query }) =>
      ok(await inWorkspace(ctx, (tx) => agentStats(tx, params.id!, query as never))),
  }),
  openEndpoint({
    method: 'POST',
    path: '/v1/invitations/accept',
    operationId: 'acceptInvitation',
    tag,
    summary: 'Accept an invitation',
    description:
      'Makes the invited agent active, with an account to sign in with, here and in the sandbox of the workspace. Whoever has an account under that address already joins with it and keeps its password.',
    body: bodyOf({
      token: text({ required: true, description: 'From the link in the mail.', example: 'Hq3vZ…' }),
      password: newPassword({
        required: true,
        description: 'For the new account.',
        example: 'correct horse battery staple',
      }),
      name: text({ description: 'As they want to be called.', example: 'Sara Almeida' }),
    }),
    success: { status: 200, description: 'The agent, now active.', schema: dataOf(Agent.schema.read) },
    handle: async ({ ctx, body }) => ok(await acceptInvitation(ctx, body)),
  }),
]
