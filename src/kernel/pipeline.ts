import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { authenticate, type Caller, type Entrance, isBasic } from './authenticate.ts'
import { requireScopes } from './authorize.ts'
import type { Clock } from './clock.ts'
import type { Context, Principal, Secrets } from './context.ts'
import type { Courier } from './courier.ts'
import type { Answer, Call, Endpoint, FileAnswer } from './endpoint.ts'
import { envelope, errorAnswer, pickFields } from './envelope.ts'
import { type ApiError, invalid, type Problem } from './errors.ts'
import { etagOf, isUnchanged } from './etag.ts'
import { once, onceApart, readIdempotencyKey } from './idempotency.ts'
import type { Admit } from './limits/admit.ts'
import { endpointWindowOf } from './limits/plans.ts'
import { parseQuery } from './query.ts'
import type { Scope } from './scopes.ts'
import type { Pool } from './sql.ts'
import type { Totals } from './totals.ts'
import { incomingOf, passBodiesOn, type Received, type UploadSpec } from './upload.ts'
import { problemsOf } from './validate.ts'
import { explained } from './violations.ts'

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null
    rawBody: Buffer | undefined
    received: Received | undefined
  }
}

export interface PipelineDeps {
  entrance: Entrance
  admit: Admit
  sql: Pool
  clock: Clock
  log: Logger
  totals: Totals
  secrets: Secrets
  courier: Courier
  /** The largest file that can be sent in. */
  uploadLimitBytes: number
}

/** Every operation goes this way: who asks, is there room for it, may they, is it well formed, do it (once), show it. */
export function mount(app: FastifyInstance, endpoints: Endpoint[], deps: PipelineDeps): void {
  const [uploads, others] = [
    endpoints.filter(({ upload }) => upload),
    endpoints.filter(({ upload }) => !upload),
  ]
  mountRoutes(app, others, deps)
  app.register(async (scope) => {
    passBodiesOn(scope)
    mountRoutes(scope, uploads, deps)
  })
}

function mountRoutes(app: FastifyInstance, endpoints: Endpoint[], deps: PipelineDeps): void {
  for (const endpoint of endpoints) {
    const endpointWindow = endpointWindowOf(endpoint)
    app.route({
      method: endpoint.method,
      url: endpoint.path,
      config: { operationId: endpoint.operationId, usageRoute: `${endpoint.method} ${endpoint.path}` },
      onRequest: async (request, reply) => {
        const open = endpoint.scopes === 'none'
        const caller = open ? stranger : await authenticate(deps.entrance, request.headers, request.method)
        if (isBasic(request.headers)) announceSunset(reply)
        const admitted = deps.admit(request, reply, caller, endpointWindow)
        if (admitted) await admitted
        if (caller.refusal) throw caller.refusal
        if (endpoint.scopes === 'none') return
        request.principal = caller.principal!
        requireScopes(caller.principal!, endpoint.scopes)
      },
      handler: async (request, reply) => {
        const ctx = contextOf(deps, request)
        const { upload } = endpoint
        if (upload) await receive(endpoint, upload, request, ctx, deps.uploadLimitBytes)
        const answer = await (upload ? performWithFile : perform)(endpoint, request, ctx)
        if (endsAccess(endpoint)) deps.entrance.credentials.forgetAll()
        return answer.file ? sendFile(request, reply, answer.file) : send(request, reply, answer)
      },
    })
  }
}

const stranger: Caller = { principal: undefined, refusal: undefined }

// Whoever revokes a key and tries it at once must see it fail; NOTIFY takes a millisecond or two to come back.
const endsAccess = ({ method, scopes, endsAccess }: Endpoint): boolean =>
  endsAccess ??
  (method !== 'GET' && typeof scopes !== 'string' && scopes.some((scope) => accessScopes.includes(scope)))
const accessScopes: readonly Scope[] = ['admin', 'write:agents']

// Open operations have no principal; their handlers are declared without one.
const contextOf = (
  { entrance, sql, clock, log, totals, secrets, courier }: PipelineDeps,
  request: FastifyRequest,
): Context => ({
  requestId: request.id,
  principal: request.principal!,
  environment: entrance.environment,
  urls: entrance.urls,
  clock,
  log,
  sql,
  totals,
  secrets,
  courier,
})

function checked(endpoint: Endpoint, request: FastifyRequest, ctx: Context): Call {
  const problems: Problem[] = []
  const query = parseQuery(endpoint.query, request.query as Record<string, unknown>, problems)
  const body = endpoint.body ? prepared(endpoint.body, request.body) : request.received
  if (endpoint.body) problems.push(...problemsOf(endpoint.body.schema, body))
  if (problems.length > 0) throw invalid(problems)
  return {
    ctx,
    query,
    body,
    params: request.params as Record<string, string>,
    headers: request.headers,
    url: request.url,
    address: request.ip,
    standing: request.standing!,
  }
}

function prepared(spec: NonNullable<Endpoint['body']>, body: unknown): unknown {
  if (body === undefined && spec.optional) return {}
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  return isObject && spec.prepare ? spec.prepare(body) : body
}

/** Takes a file in, when everything else about the request is right. What it is then stands for its bytes. */
async function receive(
  endpoint: Endpoint,
  spec: UploadSpec,
  request: FastifyRequest,
  ctx: Context,
  limitBytes: number,
): Promise<void> {
  const incoming = incomingOf(spec, request, limitBytes)
  request.received = await spec.receive(checked(endpoint, request, ctx), incoming)
  request.rawBody = Buffer.from(request.received.digest)
}

// A refused file, and one whose answer was there already, would lie about until it is swept away.
async function performWithFile(endpoint: Endpoint, request: FastifyRequest, ctx: Context): Promise<Answer> {
  let isTaken = false
  try {
    const answer = await perform(endpoint, request, ctx)
    isTaken = !answer.error && !answer.headers?.['idempotent-replayed']
    return answer
  } finally {
    if (!isTaken) await request.received?.discard()
  }
}

async function perform(endpoint: Endpoint, request: FastifyRequest, ctx: Context): Promise<Answer> {
  // Checked inside, so that a refusal is an answer that an Idempotency-Key keeps too.
  const run = async (ctx: Context) => {
    const call = checked(endpoint, request, ctx)
    try {
      return shaped(await endpoint.handle(call), call)
    } catch (error) {
      throw explained(error)
    }
  }
  // Kept answers belong to a workspace, and an open operation has none.
  if (endpoint.scopes === 'none') return run(ctx)
  const idempotent = readIdempotencyKey(request.headers['idempotency-key'], request)
  if (!idempotent) return run(ctx)
  const runOnce = endpoint.waitsForOthers ? onceApart : once
  return runOnce(ctx, idempotent, run, (error: ApiError) => errorAnswer(error))
}

function shaped(answer: Answer, { query }: Call): Answer {
  if (answer.data === undefined) return answer
  const { fields, expand = [] } = query as { fields?: string[]; expand?: string[] }
  return { ...answer, data: pickFields(answer.data, fields, expand) }
}

/** The last step of every answer, refusals included. */
export function send(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  reply.code(answer.status).headers(answer.headers ?? {})
  if (answer.status === 204) return reply.send()
  const body = envelope(answer)
  if (!answer.error) {
    const etag = etagOf(body, answer.version)
    reply.header('etag', etag)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead && isUnchanged(request.headers['if-none-match'], etag)) return reply.code(304).send()
  }
  return reply.type('application/json; charset=utf-8').send(body)
}

async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: FileAnswer,
): Promise<FastifyReply> {
  const bytes = request.method === 'HEAD' ? undefined : await file.open()
  return reply
    .type(file.type)
    .header('content-disposition', `attachment; filename="${file.name}"`)
    .send(bytes)
}

// Basic authentication goes with the next major version.
const announceSunset = (reply: FastifyReply) =>
  reply.headers({ deprecation: '@1735689600', sunset: 'Fri, 31 Dec 2027 23:59:59 GMT' })
