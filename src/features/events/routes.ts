import { inWorkspace } from '../../kernel/context.ts'
import { type Endpoint, endpoint, ok, pageOf } from '../../kernel/endpoint.ts'
import { notFound } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { listParams, readListQuery, viewParams } from '../../kernel/list-query.ts'
import { dataOf, listOfData, shapedBy } from '../../kernel/schemas.ts'
import { eventFilters, findEvent, followed, listEvents } from './queries.ts'
import { EventRecord } from './schema.ts'

const path = '/v1/events'
const tag = 'Events'

export const eventRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    operationId: 'listEvents',
    tag,
    summary: 'List events',
    description:
      'Everything that happened in the last 30 days, whether or not a webhook was told. With `after_sequence` the list comes in the order of `sequence`.',
    scopes: ['webhooks'],
    query: listParams(EventRecord, eventFilters),
    success: {
      status: 200,
      description: 'A page of events.',
      schema: listOfData(shapedBy(EventRecord.schema.read)),
    },
    handle: async ({ ctx, query, url }) => {
      const following = 'after_sequence' in query
      const source = following ? followed : EventRecord
      const list = readListQuery(source, eventFilters, following ? { order: 'asc', ...query } : query)
      return pageOf(await inWorkspace(ctx, (tx) => listEvents(tx, source, list)), url)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'getEvent',
    tag,
    summary: 'Read an event',
    scopes: ['webhooks'],
    query: viewParams(EventRecord),
    success: { status: 200, description: 'The event.', schema: dataOf(shapedBy(EventRecord.schema.read)) },
    errors: { NOT_FOUND: 'There is no such event, or it is older than 30 days.' },
    handle: async ({ ctx, params }) => {
      const id = params.id!
      const found = isId('evt', id) ? await inWorkspace(ctx, (tx) => findEvent(tx, id)) : undefined
      if (!found) throw notFound('event')
      return ok(found)
    },
  }),
]
