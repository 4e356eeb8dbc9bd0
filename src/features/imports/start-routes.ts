import { inWorkspace } from '../../kernel/context.ts'
import { csvLine } from '../../kernel/csv.ts'
import { type Endpoint, endpoint } from '../../kernel/endpoint.ts'
import { booleanParam, oneOfParam, type Param, WrongValue } from '../../kernel/query.ts'
import { createExampleOf } from '../../kernel/resource-schema.ts'
import { dataOf } from '../../kernel/schemas.ts'
import { type ReceivedFile, receiveFile } from './files.ts'
import { duplicateRules, Import } from './schema.ts'
import { startImport } from './service.ts'
import type { ImportResource, Target } from './target.ts'
import { targets } from './targets.ts'

type Mapping = Record<string, string | null>

const mappingParam: Param<Mapping> = {
  schema: { type: 'string', maxLength: 10_000 },
  description:
    'Which field a column means, where its name does not tell: a JSON object such as `{"Client":"name","Remarks":null}`; null leaves a column out.',
  maxLength: 10_000,
  parse: (text) => {
    const wrong = new WrongValue('must be a JSON object of column names and field names.')
    try {
      const mapping: unknown = JSON.parse(text)
      const isObject = typeof mapping === 'object' && mapping !== null && !Array.isArray(mapping)
      const isMapping =
        isObject && Object.values(mapping).every((field) => field === null || typeof field === 'string')
      return isMapping ? (mapping as Mapping) : wrong
    } catch {
      return wrong
    }
  },
}

// XML goes with the next major version.
const sunset = { deprecation: '@1735689600', sunset: 'Fri, 31 Dec 2027 23:59:59 GMT' }

const titled = (word: string) => word[0]!.toUpperCase() + word.slice(1)

function startRoute(resource: ImportResource, target: Target): Endpoint {
  return endpoint({
    method: 'POST',
    path: `/v1/${resource}/import`,
    operationId: `import${titled(resource)}`,
    tag: titled(resource),
    summary: `Import ${resource}`,
    description: `Takes a file in and works it off in the background: follow the import that comes back. Columns are found by their names, loosely. Rows that are wrong keep no other out. Emits an event for each record. XML is deprecated.`,
    scopes: [target.scope],
    query: {
      dry_run: booleanParam('Only reports what would happen.'),
      on_duplicate: oneOfParam(
        duplicateRules,
        `What to do with a row about a record that is there already: same id, external id${alike(target)}. \`${target.onDuplicate}\` unless given.`,
      ),
      mapping: mappingParam,
    },
    upload: {
      types: {
        'text/csv': { description: 'A header and a line per record.', example: csvExample(target) },
        'application/xml': { description: 'Deprecated.', example: xmlExample(resource, target) },
        'text/xml': { description: 'Deprecated.', example: xmlExample(resource, target) },
      },
      receive: async ({ ctx }, { type, bytes, limitBytes }) => ({
        ...(await receiveFile(ctx, bytes, limitBytes)),
        type,
      }),
    },
    success: {
      status: 202,
      description: 'The import, waiting to be worked off.',
      schema: dataOf(Import.schema.read),
    },
    errors: { VALIDATION_ERROR: 'The file is empty, or its first line does not name the columns.' },
    handle: async ({ ctx, query, body }) => {
      const file = body as unknown as ReceivedFile & { type: string }
      const format = file.type === 'text/csv' ? 'csv' : 'xml'
      const order = {
        resource,
        format: format as 'csv' | 'xml',
        dryRun: query.dry_run ?? false,
        onDuplicate: query.on_duplicate ?? target.onDuplicate,
        mapping: query.mapping ?? {},
      }
      const { record, version } = await inWorkspace(ctx, (tx) => startImport(tx, order, file))
      const headers = { location: `/v1/imports/${record.id}`, ...(format === 'xml' && sunset) }
      return { status: 202, data: record, version, headers }
    },
  })
}

const alike = ({ sameWhen }: Target) => (sameWhen ? ` or ${sameWhen.fields.join(' and ')}` : '')

function exampleCells({ resource }: Target): [string, string][] {
  const sent = createExampleOf(resource.fields)
  // A record that is made by an action, such as a deal, can't be created but can be brought along.
  const example = Object.keys(sent).length > 0 ? sent : resource.example
  return Object.entries(example).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as [string, string]] : [],
  )
}

function csvExample(target: Target): string {
  const cells = exampleCells(target)
  return csvLine(cells.map(([name]) => name)) + csvLine(cells.map(([, value]) => value))
}

function xmlExample(resource: string, target: Target): string {
  const inside = exampleCells(target).map(([name, value]) => `<${name}>${value}</${name}>`)
  return `<${resource}><${target.resource.name}>${inside.join('')}</${target.resource.name}></${resource}>`
}

export const importStartRoutes: Endpoint[] = (Object.entries(targets) as [ImportResource, Target][]).map(
  ([resource, target]) => startRoute(resource, target),
)
