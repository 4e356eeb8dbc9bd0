import { inWorkspace, type Tx } from '../../kernel/context.ts'
import { type Endpoint, endpoint } from '../../kernel/endpoint.ts'
import { type JsonSchema, listOf, text } from '../../kernel/fields.ts'
import type { Filters } from '../../kernel/filters.ts'
import type { ListSource } from '../../kernel/list.ts'
import { listParams, readListQuery } from '../../kernel/list-query.ts'
import { booleanParam, oneOfParam } from '../../kernel/query.ts'
import type { Column, Resource } from '../../kernel/resource.ts'
import { shapedBy } from '../../kernel/schemas.ts'
import type { Scope } from '../../kernel/scopes.ts'
import type { Fragment } from '../../kernel/sql.ts'
import { walkAsText } from '../../kernel/walk.ts'
import { Agent } from '../agents/schema.ts'
import { agentFilters, agentSource } from '../agents/service.ts'
import { Deal } from '../deals/schema.ts'
import { dealFilters, dealSource } from '../deals/service.ts'
import { leadsToMove, stageHistory } from '../leads/moved-in.ts'
import { Lead } from '../leads/schema.ts'
import { leadFilters, leadSource } from '../leads/service.ts'
import { Property } from '../properties/schema.ts'
import { propertyFilters, propertySource } from '../properties/service.ts'
import { Team } from '../teams/schema.ts'
import { teamFilters, teamSource } from '../teams/service.ts'
import { Unit } from '../units/schema.ts'
import { unitFilters, unitSource } from '../units/service.ts'
import { type Exportable, fileFormat, formats } from './formats.ts'

/** A column that is only written when it is asked for. */
interface Extra {
  param: string
  description: string
  column: Column
  select(tx: Tx): Fragment
}

interface Exported {
  resource: Exportable &
    Pick<Resource, 'name' | 'plural' | 'fields' | 'sorts' | 'column' | 'schema' | 'example'>
  scope: Scope
  filters: Filters
  source(tx: Tx): ListSource<object>
  extra?: Extra
}

const withPast: Extra = {
  param: 'include_history',
  description:
    'Add `stage_history`: every stage with the time it was entered, and the agent they had then where it was another; an import restores it.',
  column: { path: ['stage_history'], name: 'stage_history', leaf: listOf(text({}), {}) },
  select: stageHistory,
}

/** What can be taken out, with the filters and the sight of its list. */
const exported: Exported[] = [
  { resource: Property, scope: 'read:properties', filters: propertyFilters, source: propertySource },
  { resource: Unit, scope: 'read:properties', filters: unitFilters, source: unitSource },
  {
    resource: Lead,
    scope: 'read:leads',
    filters: leadFilters,
    source: (tx) => ({ ...leadSource(tx), select: leadsToMove(tx) }),
    extra: withPast,
  },
  { resource: Deal, scope: 'read:leads', filters: dealFilters, source: dealSource },
  { resource: Agent, scope: 'read:agents', filters: agentFilters, source: (tx) => agentSource(tx) },
  { resource: Team, scope: 'read:agents', filters: teamFilters, source: teamSource },
]

const titled = (word: string) => word[0]!.toUpperCase() + word.slice(1)

export const exportRoutes: Endpoint[] = exported.map(({ resource, scope, filters, source, extra }) => {
  const {
    page: _page,
    per_page: _perPage,
    cursor: _cursor,
    ...list
  } = listParams({ ...resource, expands: [] }, filters)
  const example = (format: 'csv' | 'ndjson') => fileExample(format, resource)
  return endpoint({
    method: 'GET',
    path: `/v1/${resource.plural}/export`,
    operationId: `export${titled(resource.plural)}`,
    tag: titled(resource.plural),
    summary: `Export ${resource.plural}`,
    description:
      'All records that the filters leave, as they are at one moment, in one file. CSV files can be imported as they are: names of nested fields have dots, items of lists stand between `|`, and an apostrophe keeps spreadsheets from computing texts that look like formulas.',
    scopes: [scope],
    query: {
      format: oneOfParam(formats, 'The kind of file; `csv` unless given.'),
      ...(extra && { [extra.param]: booleanParam(extra.description) }),
      ...list,
    },
    success: {
      status: 200,
      description: 'The file.',
      schema: fileSchema(resource, extra),
      files: {
        'text/csv': { description: 'A header and a line per record.', example: example('csv') },
        'application/x-ndjson': { description: 'A JSON object per line.', example: example('ndjson') },
      },
    },
    handle: async ({ ctx, query }) => {
      const { format = 'csv' } = query as { format?: (typeof formats)[number] }
      const asked = readListQuery(resource, filters, query)
      const added = extra && query[extra.param as never] ? extra : undefined
      const file = fileFormat(format, resource, asked.fields, added ? [added.column] : [])
      const sourceOf = (tx: Tx) => {
        const all = source(tx)
        return added ? { ...all, select: tx.sql`${all.select}, ${added.select(tx)}` } : all
      }
      const day = ctx.clock.now().toISOString().slice(0, 10)
      return {
        status: 200,
        file: {
          type: file.type,
          name: `${resource.plural}-${day}.${format}`,
          open: () => inWorkspace(ctx, (tx) => walkAsText(tx, sourceOf(tx), asked, file)),
        },
      }
    },
  })
})

function fileSchema({ schema }: Exported['resource'], extra: Extra | undefined): JsonSchema {
  const added = extra ? { [extra.column.name]: { type: ['array', 'null'], items: { type: 'string' } } } : {}
  return {
    type: 'object',
    properties: { success: { const: true }, data: { type: 'array', items: shapedBy(schema.read, added) } },
    required: ['success', 'data'],
  }
}

function fileExample(format: 'csv' | 'ndjson', resource: Exported['resource']): string {
  const row = (resource as Resource).toRow(resource.example as never)
  const { before, write, after } = fileFormat(format, resource, undefined)
  return before + write([row], true) + after
}
