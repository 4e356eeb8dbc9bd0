import { inWorkspace, type Tx } from '../../kernel/context.ts'
import { createBody, created, type Endpoint, endpoint, ok, pageOf } from '../../kernel/endpoint.ts'
import type { Filters } from '../../kernel/filters.ts'
import {
  defaultPerPage,
  type ListQuery,
  listParams,
  readListQuery,
  viewParams,
} from '../../kernel/list-query.ts'
import { booleanParam } from '../../kernel/query.ts'
import { dataOf, listOfData, shapedBy } from '../../kernel/schemas.ts'
import { getAgent } from '../agents/service.ts'
import { Activity, Note } from './activity-schema.ts'
import { expandLeads, leadExpansions } from './expand.ts'
import { agentLeadFilters, leadFilters } from './queries.ts'
import { Lead } from './schema.ts'
import { addNote, createLead, getLead, leadActivity, listLeads } from './service.ts'

const path = '/v1/leads'
const tag = 'Leads'
const shown = shapedBy(Lead.schema.read, leadExpansions)
const withActivity = shapedBy(Lead.schema.read, {
  ...leadExpansions,
  activity: { type: 'array', items: Activity.schema.read, description: 'With `include_activity`.' },
})
const noSuchLead = { NOT_FOUND: 'There is no such lead.' }
const { agent_id: _, ...filtersOfAgent } = agentLeadFilters

async function expandedPage(tx: Tx, query: ListQuery, filters: Filters = leadFilters) {
  const page = await listLeads(tx, query, filters)
  return { ...page, records: await expandLeads(tx, page.records, query.expand) }
}

const newestActivity = readListQuery(Activity, {}, { per_page: defaultPerPage })

export const leadRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    operationId: 'listLeads',
    tag,
    summary: 'List leads',
    scopes: ['read:leads'],
    query: listParams(Lead, leadFilters),
    success: { status: 200, description: 'A page of leads.', schema: listOfData(shown) },
    handle: async ({ ctx, query, url }) => {
      const list = readListQuery(Lead, leadFilters, query)
      return pageOf(await inWorkspace(ctx, (tx) => expandedPage(tx, list)), url)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/agents/:id/leads',
    operationId: 'listAgentLeads',
    tag: 'Agents',
    summary: 'List the leads of an agent',
    scopes: ['read:agents', 'read:leads'],
    query: listParams(Lead, filtersOfAgent),
    success: {
      status: 200,
      description: 'A page of the leads assigned to the agent.',
      schema: listOfData(shown),
    },
    errors: { NOT_FOUND: 'There is no such agent.' },
    handle: async ({ ctx, params, query, url }) => {
      const list = readListQuery(Lead, filtersOfAgent, query)
      list.filters.agent_id = params.id
      const page = await inWorkspace(ctx, async (tx) => {
        const [found] = await Promise.all([
          expandedPage(tx, list, agentLeadFilters),
          getAgent(tx, params.id!),
        ])
        return found
      })
      return pageOf(page, url)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'getLead',
    tag,
    summary: 'Read a lead',
    scopes: ['read:leads'],
    query: {
      include_activity: booleanParam(`Add \`activity\`: the newest ${defaultPerPage} entries.`),
      ...viewParams(Lead),
    },
    success: { status: 200, description: 'The lead.', schema: dataOf(withActivity) },
    errors: noSuchLead,
    handle: async ({ ctx, params, query }) => {
      const { expand = [], fields } = query as { expand?: string[]; fields?: string[] }
      return inWorkspace(ctx, async (tx) => {
        const [{ record, version }, activity] = await Promise.all([
          getLead(tx, params.id!),
          query.include_activity ? leadActivity(tx, params.id!, newestActivity) : undefined,
        ])
        const [lead] = await expandLeads(tx, [record], expand)
        // `fields` chooses among the fields of the lead, not among what was asked for besides.
        if (activity) fields?.push('activity')
        return ok({ ...lead, ...(activity && { activity: activity.records }) }, version)
      })
    },
  }),
  endpoint({
    method: 'POST',
    path,
    operationId: 'createLead',
    tag,
    summary: 'Create a lead',
    description: 'Emits `lead.created`, and `lead.assigned` when it has an agent.',
    scopes: ['write:leads'],
    body: createBody(Lead),
    success: { status: 201, description: 'The new lead.', schema: dataOf(Lead.schema.read) },
    errors: { CONFLICT: 'Another lead has this external id.' },
    handle: async ({ ctx, body }) => {
      const { record, version } = await inWorkspace(ctx, (tx) => createLead(tx, body))
      return created(record, path, version)
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/:id/notes`,
    operationId: 'addLeadNote',
    tag,
    summary: 'Add a note to a lead',
    description: 'Notes that tell of an exchange set `last_contacted` of the lead. Emits no event.',
    scopes: ['write:leads'],
    body: createBody(Note),
    success: { status: 201, description: 'The note.', schema: dataOf(Note.schema.read) },
    errors: noSuchLead,
    handle: async ({ ctx, params, body }) => ({
      status: 201,
      data: await inWorkspace(ctx, (tx) => addNote(tx, params.id!, body)),
    }),
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id/activity`,
    operationId: 'listLeadActivity',
    tag,
    summary: 'List what happened to a lead',
    description: 'Newest first.',
    scopes: ['read:leads'],
    query: listParams(Activity, {}),
    success: {
      status: 200,
      description: 'A page of its activity.',
      schema: listOfData(shapedBy(Activity.schema.read)),
    },
    errors: noSuchLead,
    handle: async ({ ctx, params, query, url }) => {
      const list = readListQuery(Activity, {}, query)
      return pageOf(await inWorkspace(ctx, (tx) => leadActivity(tx, params.id!, list)), url)
    },
  }),
]
