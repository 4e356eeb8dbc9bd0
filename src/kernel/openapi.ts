import type { Endpoint, Success } from './endpoint.ts'
import { type ErrorCode, errorCodes } from './errors.ts'
import type { JsonSchema } from './fields.ts'
import { withSharedSchemas } from './openapi-shared.ts'
import { envelopeSchemas } from './schemas.ts'
import { scopeMeanings } from './scopes.ts'

/** The reference as data: OpenAPI 3.1, from the same declarations that the routes run on. */

export interface ReferenceOptions {
  version: string
  servers: { url: string; description: string }[]
  tags: { name: string; description: string }[]
}

export function openApiDocument(endpoints: Endpoint[], options: ReferenceOptions): JsonSchema {
  return withSharedSchemas({
    openapi: '3.1.0',
    info: {
      title: 'Plotbase API',
      version: options.version,
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: options.servers,
    tags: options.tags,
    security: [{ bearer: [] }],
    paths: pathsOf(endpoints),
    components: {
      schemas: published(envelopeSchemas),
      headers: headersOfEveryAnswer,
      responses: Object.fromEntries(
        Object.keys(errorCodes).map((code) => [code, errorResponse(code as ErrorCode)]),
      ),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key (`pb_live_…`, `pb_test_…`) or an access token.',
        },
      },
    },
  })
}

const introduction = `Everything a real-estate sales organisation sells, and who wants it.

Every call carries \`Authorization: Bearer <token>\`. Every answer is \`{success, data}\`, with \`meta\` and \`links\` on lists, or \`{success: false, error}\` with a \`code\` to act on and \`details\` that name each wrong field.

Scopes: ${Object.entries(scopeMeanings)
  .map(([scope, meaning]) => `\`${scope}\` (${meaning.toLowerCase()})`)
  .join(', ')}. \`write:x\` includes \`read:x\`.`

function pathsOf(endpoints: Endpoint[]): JsonSchema {
  const byPath = Map.groupBy(endpoints, (endpoint) => endpoint.path.replaceAll(/:(\w+)/g, '{$1}'))
  return Object.fromEntries(
    [...byPath].map(([path, operations]) => [
      path,
      Object.fromEntries(
        operations.map((operation) => [operation.method.toLowerCase(), operationOf(operation)]),
      ),
    ]),
  )
}

function operationOf(endpoint: Endpoint): JsonSchema {
  const scopes = typeof endpoint.scopes === 'string' ? [] : endpoint.scopes
  const open = endpoint.scopes === 'none'
  const needs = open
    ? 'Needs no credential.'
    : scopes.length > 0
      ? `Needs the scope ${scopes.map((scope) => `\`${scope}\``).join(' and ')}.`
      : 'Any valid credential may call it.'
  return {
    operationId: endpoint.operationId,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: [endpoint.description, needs].filter(Boolean).join('\n\n'),
    'x-required-scopes': scopes,
    security: open ? [] : [{ bearer: scopes }],
    parameters: parametersOf(endpoint),
    ...(endpoint.body && {
      requestBody: {
        required: !endpoint.body.optional,
        content: {
          'application/json': {
            schema: published(endpoint.body.documented ?? endpoint.body.schema),
            example: endpoint.body.example,
          },
        },
      },
    }),
    ...(endpoint.upload && {
      requestBody: { required: true, content: filesOf(endpoint.upload.types) },
    }),
    responses: { ...successesOf(endpoint), ...errorsOf(endpoint) },
  }
}

function parametersOf({ path, query, method, scopes }: Endpoint): JsonSchema[] {
  const named = [...path.matchAll(/:(\w+)/g)].map((match) => match[1]!)
  return [
    ...named.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
      description: 'Its id.',
    })),
    ...Object.entries(query).map(([name, { schema, description }]) => ({
      name,
      in: 'query',
      schema: published(schema),
      description,
    })),
    ...(scopes === 'none' ? [] : credentialHeaders(method)),
    ...(method === 'PUT'
      ? [
          header(
            'If-Match',
            'The ETag of a GET: the change is made only if the record has not changed since.',
          ),
        ]
      : []),
    ...(method === 'GET' ? [header('If-None-Match', 'An ETag: answers 304 if nothing has changed.')] : []),
  ]
}

function credentialHeaders(method: Endpoint['method']): JsonSchema[] {
  return [
    header('X-Workspace-ID', 'Act in another workspace that the person behind the credential belongs to.'),
    ...(method === 'POST'
      ? [
          header(
            'Idempotency-Key',
            'Makes it safe to send the request again for 24 hours: the first answer comes back.',
          ),
        ]
      : []),
  ]
}

const header = (name: string, description: string): JsonSchema => ({
  name,
  in: 'header',
  schema: { type: 'string' },
  description,
})

const headersOfEveryAnswer: Record<string, JsonSchema> = {
  'X-Request-Id': { schema: { type: 'string' }, description: 'Names the request in our logs.' },
  'X-RateLimit-Limit': { schema: { type: 'integer' }, description: 'Requests a minute.' },
  'X-RateLimit-Remaining': { schema: { type: 'integer' }, description: 'Left of them in this minute.' },
  'X-RateLimit-Reset': {
    schema: { type: 'integer' },
    description: 'When the next minute begins, in Unix seconds.',
  },
  RateLimit: {
    schema: { type: 'string' },
    description: 'What is left (`r`) and for how many seconds (`t`), for each window with a limit.',
  },
  'RateLimit-Policy': {
    schema: { type: 'string' },
    description: 'How many requests (`q`) in how many seconds (`w`), for each window with a limit.',
  },
}

const headerRefs = Object.fromEntries(
  Object.keys(headersOfEveryAnswer).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

const retryAfter: JsonSchema = {
  'Retry-After': { schema: { type: 'integer' }, description: 'Seconds until the request would be admitted.' },
}

function successesOf({ success }: Endpoint): JsonSchema {
  const { also } = success
  return {
    [success.status]: successOf(success),
    ...(also && { [also.status]: { ...successOf(success), description: also.description } }),
  }
}

function successOf(success: Success): JsonSchema {
  const headers = headerRefs
  if (!success.schema) return { description: success.description, headers }
  const schema = published(success.schema)
  return {
    description: success.description,
    headers,
    content: {
      'application/json': { schema, example: exampleFor(success.schema, success.example) },
      ...filesOf(success.files ?? {}),
    },
  }
}

const filesOf = (types: Record<string, { description: string; example: string }>): JsonSchema =>
  Object.fromEntries(
    Object.entries(types).map(([type, { description, example }]) => [
      type,
      { schema: { type: 'string', description }, example },
    ]),
  )

/** An example answer, made of the examples in the schema. */
export function exampleFor(schema: JsonSchema, data?: unknown): unknown {
  const { data: shape, meta } = schema.properties as Record<string, JsonSchema>
  if (data !== undefined) return { success: true, data }
  if (shape!.type !== 'array') {
    return { success: true, data: exampleOfSchema(shape!), ...(meta && { meta: exampleOfSchema(meta) }) }
  }
  return {
    success: true,
    data: [exampleOfSchema(shape!.items as JsonSchema)],
    ...(meta && {
      meta: { page: 1, per_page: 20, total: 1, total_pages: 1 },
      links: { self: '?page=1', first: '?page=1&per_page=20', last: '?page=1&per_page=20' },
    }),
  }
}

function exampleOfSchema(schema: JsonSchema): unknown {
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (schema.properties && [schema.type].flat().includes('object')) {
    const required = (schema.required as string[] | undefined) ?? []
    const properties = Object.entries(schema.properties as Record<string, JsonSchema>)
    return Object.fromEntries(
      properties
        .filter(
          ([name, part]) =>
            required.includes(name) || part.examples || part.properties || part.format === 'date-time',
        )
        .map(([name, part]) => [name, exampleOfSchema(part)]),
    )
  }
  if ([schema.type].flat().includes('null')) return null
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (schema.type === 'array') return [exampleOfSchema(schema.items as JsonSchema)]
  if (schema.format === 'date-time') return '2026-01-31T09:30:00.000Z'
  return { string: 'text', integer: 1, number: 1, boolean: true }[String(schema.type)] ?? null
}

const everywhere: ErrorCode[] = [
  'UNAUTHORIZED',
  'FORBIDDEN',
  // A query parameter that the operation does not know, if nothing else.
  'VALIDATION_ERROR',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL_ERROR',
  // Also stands for OVERLOADED, which has the same status.
  'UNAVAILABLE',
]
const passing: ErrorCode[] = ['RATE_LIMIT_EXCEEDED', 'UNAVAILABLE']

function errorsOf({ method, errors, body, upload }: Endpoint): JsonSchema {
  const withBody: ErrorCode[] =
    body || upload ? ['BAD_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] : []
  // An Idempotency-Key can be in flight.
  const withKey: ErrorCode[] = method === 'POST' ? ['CONFLICT'] : []
  const codes = new Set([...withBody, ...withKey, ...everywhere, ...(Object.keys(errors) as ErrorCode[])])
  return Object.fromEntries(
    [...codes].map((code) => [
      errorCodes[code].status,
      errors[code] ? errorResponse(code, errors[code]) : { $ref: `#/components/responses/${code}` },
    ]),
  )
}

function errorResponse(code: ErrorCode, message: string = errorCodes[code].meaning): JsonSchema {
  const details = code === 'VALIDATION_ERROR' ? { details: [{ field: 'name', message: 'is required.' }] } : {}
  return {
    description: message,
    ...(passing.includes(code) && { headers: retryAfter }),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        example: { success: false, error: { code, message, ...details } },
      },
    },
  }
}

const publicFormats: Record<string, JsonSchema> = {
  text: {},
  // Not format uri: that is ASCII alone, and addresses with other letters are taken and given back as they are.
  'http-url': { pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  // Not multipleOf 0.01: validators divide in binary and then refuse 19.99.
  'two-decimals': {},
}

/** A schema as the world may read it: our own formats and marks in standard words. */
function published<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(published) as T
  if (typeof schema !== 'object' || schema === null) return schema
  const { format, 'x-renamed': _, ...rest } = schema as JsonSchema
  const standard =
    typeof format === 'string'
      ? (publicFormats[format] ?? { format })
      : format === undefined
        ? {}
        : { format }
  const entries = Object.entries(rest).map(([name, value]) => [
    name,
    name === 'examples' ? value : published(value),
  ])
  return { ...Object.fromEntries(entries), ...standard } as T
}
