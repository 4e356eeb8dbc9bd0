import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
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
    /** What the usage record shows it as: made once, since joining and hashing it costs more than counting. */
    usageRoute?: string
    /** A path of the API, with a method that it does not have. */
    wrongMethod?: boolean
  }
}

/** Counts a request for whoever asks; throws when that is one too many. A promise only where others share the counts. */
export type Admit = (
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Pick<Caller, 'principal'>,
  endpoint?: EndpointWindow,
) => void | Promise<void>

export const admitWithin =
  (limiter: Limiter): Admit =>
  (request, reply, { principal }, endpoint) => {
    const standing = principal
      ? limiter.takeFor(principal, endpoint, routeOf(request))
      : limiter.takeFrom(request.ip)
    if (standing instanceof Promise) return standing.then((later) => settle(request, reply, later))
    settle(request, reply, standing)
  }

function settle(request: FastifyRequest, reply: FastifyReply, standing: Standing): void {
  request.standing = standing
  reply.headers(limitHeaders(standing))
  if (!standing.admitted) throw tooMany(standing)
}

// Patterns, never addresses: what callers invent must not become rows.
const routeOf = ({ method, routeOptions, is404 }: FastifyRequest): string =>
  routeOptions.config.usageRoute ?? (is404 || !routeOptions.url ? 'unknown' : `${method} ${routeOptions.url}`)

/** Counts what is not an operation, and puts the headers on the answers to it. */
export function limitRequests(app: FastifyInstance, limiter: Limiter, entrance: Entrance): void {
  app.decorateRequest('standing', null)

  const admit = admitWithin(limiter)
  const countMiss = async (request: FastifyRequest, reply: FastifyReply) =>
    admit(request, reply, await authenticate(entrance, request.headers, request.method))
  const countStranger = async (request: FastifyRequest, reply: FastifyReply) =>
    admit(request, reply, { principal: undefined })

  app.addHook('onRequest', (request, reply, done) => {
    const { config } = request.routeOptions
    if (config.operationId) return done()
    const count =
      request.is404 || config.wrongMethod ? countMiss : isAuthorization(request) ? countStranger : null
    if (count) return void count(request, reply).then(() => done(), done)
    reply.headers(limitHeaders(limiter.look(request.ip)))
    done()
  })
}

const isAuthorization = ({ url }: FastifyRequest) => url.startsWith('/oauth/')
