import { reference } from '../reference.ts'

/** The published reference as a list of operations: what the generated tests walk over. */

export interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: unknown[]
  pattern?: string
  format?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
}

interface Content {
  'application/json'?: { schema: Schema; example?: unknown }
}

export interface Spec {
  operationId?: string
  summary?: string
  description?: string
  security?: Record<string, string[]>[]
  'x-required-scopes'?: string[]
  parameters?: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: Content; required: boolean }
  responses: Record<string, { description?: string; content?: Content }>
}

export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `{name}` for parameters. */
  path: string
  /** `POST /v1/units`, to name it in a test. */
  name: string
  spec: Spec
  success: number
  /** Of the JSON body; undefined where it takes none. */
  body: { schema: Schema; example: unknown } | undefined
  query: { name: string; schema: Schema }[]
  hasPathParameter: boolean
  /** Does something to one record: `POST /v1/leads/{id}/won`. */
  isAction: boolean
  /** Takes many items, each of which stands alone. */
  isBulk: boolean
  /** Anybody may call it, without a credential. */
  isPublic: boolean
}

const paths = reference.paths as Record<string, Record<string, Spec>>

export const operations: Operation[] = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, spec]): Operation => {
    const upper = method.toUpperCase() as Operation['method']
    const body = spec.requestBody?.content['application/json']
    return {
      method: upper,
      path,
      name: `${upper} ${path}`,
      spec,
      success: Number(Object.keys(spec.responses).find((status) => status.startsWith('2'))),
      body: body && { schema: body.schema, example: body.example },
      query: (spec.parameters ?? []).filter((parameter) => parameter.in === 'query'),
      hasPathParameter: path.includes('{'),
      isAction: upper === 'POST' && path.includes('}/'),
      isBulk: path.includes('/bulk'),
      isPublic: spec.security?.length === 0,
    }
  }),
)

export const withBody = operations.filter((operation) => operation.body !== undefined)
export const guarded = operations.filter((operation) => !operation.isPublic)
export const withPathParameter = operations.filter((operation) => operation.hasPathParameter)

/** Operations that make one record of a collection. */
export const creates = withBody.filter(
  ({ method, success, hasPathParameter, isPublic, isBulk }) =>
    method === 'POST' && success === 201 && !hasPathParameter && !isPublic && !isBulk,
)
export const updates = withBody.filter(({ method, path }) => method === 'PUT' && path.endsWith('}'))
// Usage grows by being asked for, and the errors of an import need an import; both have tests of their own.
const apart = ['/v1/usage', '/v1/imports/{id}/errors']
export const lists = operations.filter(
  ({ method, path, query }) =>
    method === 'GET' && query.some(({ name }) => name === 'per_page') && !apart.includes(path),
)

export const typesOf = (schema: Schema): string[] => [schema.type ?? []].flat()
