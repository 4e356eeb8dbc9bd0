import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Context, OpenContext } from './context.ts'
import type { ErrorCode } from './errors.ts'
import type { Create, Fields, JsonSchema, Update } from './fields.ts'
import type { Standing } from './limits/standing.ts'
import type { Page } from './list.ts'
import type { Params, Parsed } from './query.ts'
import type { Resource } from './resource.ts'
import { bodySchema, createExampleOf } from './resource-schema.ts'
import type { Scope } from './scopes.ts'
import type { UploadSpec } from './upload.ts'

/** One operation of the API: what it needs, what it takes, what it gives. Routes and reference come from it. */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `:name` for parameters. */
  path: string
  operationId: string
  tag: string
  summary: string
  description?: string
  /** Every one of them; `any` for whatever credential is valid; `none` for operations before there is a credential. */
  scopes: readonly Scope[] | 'any' | 'none'
  /**
   * Whether it can end or narrow somebody's access. This process then forgets what it remembers of
   * credentials before it answers; others hear of it a moment later. Unless said otherwise: writes that
   * need `admin` or `write:agents`.
   */
  endsAccess?: boolean
  query: Params
  /** Undefined where the operation takes no body. */
  body: BodySpec | undefined
  /** Takes the place of a JSON body. */
  upload?: UploadSpec
  /** Somebody else's server is waited for: no connection to the database may be held meanwhile. */
  waitsForOthers?: boolean
  success: Success
  /** The errors of this operation, besides those that every operation can have. */
  errors: Partial<Record<ErrorCode, string>>
  handle(call: Call): Promise<Answer>
}

export interface Success {
  status: number
  description: string
  /** Of the JSON that is answered. */
  schema?: JsonSchema
  example?: unknown
  /** Another status that an answer of the same shape can have. */
  also?: { status: number; description: string }
  /** Other media types that the same status can come in. */
  files?: Record<string, { description: string; example: string }>
}

export interface BodySpec {
  schema: JsonSchema
  /** What the reference shows, where the handler itself checks more than the schema does. */
  documented?: JsonSchema
  example: unknown
  /** May be left out altogether: none of its fields is required. */
  optional?: boolean
  /** Applied before validation. */
  prepare?(body: object): object
}

/** A request after every check: what a handler works with. */
export interface Call<Q = Record<string, unknown>, B = unknown, C = Context> {
  ctx: C
  params: Record<string, string>
  query: Q
  body: B
  headers: IncomingHttpHeaders
  /** Path and query as they were sent, for links. */
  url: string
  /** Where the request came from. */
  address: string
  /** Where the workspace stands within its limits, this request included. */
  standing: Standing
}

/** What a handler gives back: data, not yet bytes. */
export interface Answer {
  status: number
  data?: unknown
  /** Stands in place of data when the request was refused. */
  error?: object
  meta?: object
  links?: object
  headers?: Record<string, string>
  /** The version of the record shown, for ETag and If-Match. */
  version?: number
  /** Takes the place of the envelope. */
  file?: FileAnswer
}

/** Bytes of another kind than our envelope, made while they are sent. */
export interface FileAnswer {
  type: string
  name: string
  /** Not called for HEAD. What fails before the first bytes are there is answered as an error. */
  open(): Promise<Readable>
}

interface Declaration<P extends Params, B, C = Context>
  extends Omit<Endpoint, 'query' | 'body' | 'errors' | 'handle' | 'scopes'> {
  query?: P
  body?: BodySpec & { type?: B }
  errors?: Endpoint['errors']
  handle(call: Call<Parsed<P>, B, C>): Promise<Answer>
}

/** Declares an operation; the handler's types follow from the declaration. */
export const endpoint = <P extends Params = Record<never, never>, B = undefined>(
  declaration: Declaration<P, B> & { scopes: readonly Scope[] | 'any' },
): Endpoint => ({ query: {}, body: undefined, errors: {}, ...declaration }) as Endpoint

/** Declares an operation that anybody may call, such as signing in. Its handler has no principal to look at. */
export const openEndpoint = <P extends Params = Record<never, never>, B = undefined>(
  declaration: Declaration<P, B, OpenContext>,
): Endpoint =>
  ({ query: {}, body: undefined, errors: {}, scopes: 'none', ...declaration }) as unknown as Endpoint

/** A body with fields of its own, such as that of an action. */
export function bodyOf<const F extends Fields>(fields: F): BodySpec & { type?: Create<F> } {
  const optional = Object.values(fields).every(({ marks }) => !marks.required)
  return { schema: bodySchema(fields, 'create'), example: createExampleOf(fields), optional }
}

/** The body that creates or changes a resource. What a client may send back but can't set is dropped. */
export const createBody = <F extends Fields>(resource: BodySource<F>): BodySpec & { type?: Create<F> } => ({
  schema: resource.schema.create,
  example: createExampleOf(resource.fields),
  prepare: (body) => resource.withoutReadOnly(body, 'create'),
})

export const updateBody = <F extends Fields>(
  resource: BodySource<F>,
  example: Update<F>,
): BodySpec & { type?: Update<F> } => ({
  schema: resource.schema.update,
  example,
  prepare: (body) => resource.withoutReadOnly(body, 'update'),
})

type BodySource<F extends Fields> = Pick<Resource, 'schema' | 'withoutReadOnly'> & { fields: F }

export const ok = (data: unknown, version?: number): Answer => ({
  status: 200,
  data,
  ...(version !== undefined && { version }),
})

export const created = (data: { id: string }, collection: string, version?: number): Answer => ({
  ...ok(data, version),
  status: 201,
  headers: { location: `${collection}/${data.id}` },
})

export const noContent = (): Answer => ({ status: 204 })

export function pageOf<R>(page: Page<R>, url: string): Answer {
  return { status: 200, data: page.records, meta: metaOf(page), links: linksOf(page, url) }
}

const totalPages = ({ total, query }: Page<unknown>) => Math.ceil(total / query.perPage)

const metaOf = (page: Page<unknown>) => ({
  page: page.query.cursor === undefined ? page.query.page : null,
  per_page: page.query.perPage,
  total: page.total,
  total_pages: totalPages(page),
})

/** Relative links that keep the caller's query; `next` and `prev` are there only where they lead somewhere. */
function linksOf(page: Page<unknown>, url: string): Record<string, string> {
  const [path, ...search] = url.split('?')
  const link = (changes: Record<string, string>) => {
    const params = new URLSearchParams(search.join('?'))
    for (const [name, value] of Object.entries(changes)) params.set(name, value)
    return `${path}?${params}`
  }
  if (page.query.cursor !== undefined) {
    const next = page.nextCursor
    return { self: url, first: link({ cursor: '' }), ...(next && { next: link({ cursor: next }) }) }
  }
  const at = page.query.page
  const last = Math.max(1, totalPages(page))
  const to = (number: number) => link({ page: String(number), per_page: String(page.query.perPage) })
  return {
    self: url,
    first: to(1),
    ...(at > 1 && { prev: to(Math.min(at - 1, last)) }),
    ...(at < last && { next: to(at + 1) }),
    last: to(last),
  }
}
