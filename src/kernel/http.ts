import { isUtf8 } from 'node:buffer'
import Fastify, { type FastifyError, type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import { errorAnswer } from './envelope.ts'
import { ApiError, badRequest, unavailable } from './errors.ts'
import { send } from './pipeline.ts'
import {
  answerClientError,
  answerUnroutable,
  type HeadersFor,
  newRequestId,
  nothingHere,
} from './unroutable.ts'

export interface ServerOptions {
  log: Logger
  bodyLimitBytes: number
  trustedProxies?: string[]
  headersFor?: HeadersFor
}

/** A server with the conventions of the house: request ids, JSON in UTF-8, errors in one shape, log lines. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { trustedProxies = [], headersFor = () => ({}) } = options
  const app = Fastify({
    loggerInstance: options.log,
    // One line per request, written by the hook below, instead of Fastify's two.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request' }),
    bodyLimit: options.bodyLimitBytes,
    genReqId: newRequestId,
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    requestIdHeader: false,
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: true },
    frameworkErrors: (_error, request, reply) => answerUnroutable(request, reply, headersFor),
    clientErrorHandler: (error, socket) => answerClientError(options.log, error, socket, headersFor),
    // A stopping server still answers what it has accepted; the listener is closed first.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  }) as unknown as FastifyInstance

  app.decorateRequest('principal', null)
  app.decorateRequest('rawBody', undefined)
  app.decorateRequest('received', undefined)
  acceptJsonOnly(app)
  answerPreflights(app)

  // These hooks wait for nothing, so they are no async functions: each would cost every request a promise.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).header('access-control-allow-origin', '*')
    reply.header('access-control-expose-headers', exposedHeaders)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { principal } = request
    request.log[reply.statusCode >= 500 ? 'error' : 'info']({
      method: request.method,
      // The pattern, not the address: queries hold names, e-mails and whatever else a caller puts there.
      route: request.routeOptions.url ?? 'unknown',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      workspace: principal?.workspace.id,
      credential: principal?.credentialId,
    })
    done()
  })
  app.setErrorHandler((error, request, reply) => {
    const known = asApiError(error as FastifyError)
    if (known.status >= 500) request.log.error({ err: error }, 'request failed')
    if (!request.standing) reply.headers(headersFor(request.ip))
    return send(request, reply, errorAnswer(known, request.id))
  })
  app.setNotFoundHandler((request, reply) => send(request, reply, errorAnswer(nothingHere())))
  return app
}

/** Stops listening, answers what is in flight, and lets go of each connection as it falls idle. */
export async function finishAndClose(app: FastifyInstance): Promise<void> {
  const sweeping = setInterval(() => app.server.closeIdleConnections(), 50)
  try {
    await app.close()
  } finally {
    clearInterval(sweeping)
  }
}

const exposedHeaders =
  'ETag, Location, Content-Disposition, Retry-After, X-Request-Id, Idempotent-Replayed, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Deprecation, Sunset'

function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    /^application\/([\w.+-]+\+)?json(;|$)/,
    { parseAs: 'buffer' },
    async (request: { rawBody?: Buffer | undefined }, bytes: string | Buffer) => {
      const body = bytes as Buffer
      request.rawBody = body
      if (body.length === 0) return undefined
      if (!isUtf8(body)) throw badRequest('The body is not valid UTF-8.')
      try {
        return JSON.parse(body.toString('utf8'))
      } catch (cause) {
        throw badRequest(`The body is not valid JSON: ${(cause as Error).message.replace(/, ".*$/s, '')}.`, {
          cause,
        })
      }
    },
  )
}

// Browsers may call the API with a bearer token from anywhere; cookies are never allowed across origins.
function answerPreflights(app: FastifyInstance): void {
  app.options('/*', async (_request, reply) =>
    reply
      .code(204)
      .headers({
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers':
          'Authorization, Content-Type, Accept, X-Workspace-ID, Idempotency-Key, If-Match, If-None-Match',
        'access-control-max-age': '86400',
      })
      .send(),
  )
}

/** Answers every other method on the known paths with 405 and `Allow`. */
export function refuseOtherMethods(
  app: FastifyInstance,
  endpoints: { method: string; path: string }[],
): void {
  const byPath = Map.groupBy(endpoints, (endpoint) => endpoint.path)
  for (const [path, known] of byPath) {
    const allowed = known.map((endpoint) => endpoint.method)
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => !allowed.includes(method))
    const allow = [...allowed, ...(allowed.includes('GET') ? ['HEAD'] : [])].join(', ')
    app.route({
      method: others,
      url: path,
      exposeHeadRoute: false,
      config: { wrongMethod: true },
      // Refused before the body is read.
      onRequest: async (request) => {
        throw new ApiError('METHOD_NOT_ALLOWED', `${request.method} is not possible here; use ${allow}.`, {
          headers: { allow },
        })
      },
      handler: async () => undefined,
    })
  }
}

function asApiError(error: FastifyError): ApiError {
  if (error instanceof ApiError) return error
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('PAYLOAD_TOO_LARGE', 'The body is larger than this server accepts.')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ApiError(
        'UNSUPPORTED_MEDIA_TYPE',
        'Send the body as JSON, with "Content-Type: application/json".',
      )
  }
  if (isDatabaseAway(error))
    return unavailable('The database cannot be reached right now; try again shortly.')
  if (error.statusCode && error.statusCode >= 400 && error.statusCode < 500) {
    return badRequest('The request could not be read.', { cause: error })
  }
  return new ApiError(
    'INTERNAL_ERROR',
    'Something went wrong on our side. Tell us the request id if it lasts.',
    { cause: error },
  )
}

// Connection refused, reset or closed, and PostgreSQL's own "starting up" and "shutting down" (class 57P).
const isDatabaseAway = (error: { code?: string }) =>
  /^(CONNECTION_|CONNECT_TIMEOUT|ECONN|ENOENT|EPIPE|57P|08)/.test(error.code ?? '')
