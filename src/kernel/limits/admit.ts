import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authenticate, type Caller, type Entrance } from '../authenticate.ts'
import type { Limiter } from './limiter.ts'
import type { EndpointWindow } from './plans.ts'
import { limitHeaders, type Standing, tooMany } from './standing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the caller stands, once the request was counted. */
    standing: Standing | null
  }
  interface FastifyContextConfig {
    /** The pipeline admits requests to operations itself. */
    operationId?: string
    /** A path of the API, with a method that it does not have. */
    wrongMethod?: boolean
  }
}

/** Counts a request for whoever asks; throws when that is one too many. A promise only where others share the counts. */
export function admit(
  limiter: Limiter,
  request: FastifyRequest,
  { principal }: Pick<Caller, 'principal'>,
  endpoint?: EndpointWindow,
): void | Promise<void> {
  const standing = principal
    ? limiter.takeFor(principal, endpoint, routeOf(request))
    : limiter.takeFrom(request.ip)
  if (standing instanceof Promise) return standing.then((later) => settle(request, later))
  settle(request, standing)
}

function settle(request: FastifyRequest, standing: Standing): void {
  request.standing = standing
  if (!standing.admitted) throw tooMany(standing)
}

// Patterns, never addresses: what callers invent must not become rows.
const routeOf = ({ method, routeOptions, is404 }: FastifyRequest): string =>
  is404 || !routeOptions.url ? 'unknown' : `${method} ${routeOptions.url}`

/** Counts what is not an operation, and puts the headers on every answer. */
export function limitRequests(app: FastifyInstance, limiter: Limiter, entrance: Entrance): void {
  app.decorateRequest('standing', null)

  app.addHook('onRequest', (request, _reply, done) => {
    const { config } = request.routeOptions
    if (config.operationId) return done()
    const count =
      request.is404 || config.wrongMethod ? countMiss : isAuthorization(request) ? countStranger : null
    if (!count) return done()
    count(request).then(() => done(), done)
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.headers(limitHeaders(request.standing ?? limiter.look(request.ip)))
    done(null, payload)
  })

  const countMiss = async (request: FastifyRequest) =>
    admit(limiter, request, await authenticate(entrance, request.headers))
  const countStranger = async (request: FastifyRequest) => admit(limiter, request, { principal: undefined })
}

const isAuthorization = ({ url }: FastifyRequest) => url.startsWith('/oauth/')
