import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type Provider from 'oidc-provider'
import { limitHeaders } from '../kernel/limits/standing.ts'
import { arrival } from './store.ts'

const formType = 'application/x-www-form-urlencoded'

/** Lets the library answer a request of ours. With `params`, they are the body, whatever form they came in. */
export async function answerBy(
  provider: Provider,
  request: FastifyRequest,
  reply: FastifyReply,
  params?: URLSearchParams,
): Promise<void> {
  const arrivedAt = new Date(Date.now() - reply.elapsedTime)
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value!)
  if (request.standing) reply.raw.setHeaders(new Headers(limitHeaders(request.standing)))
  const incoming = asSeenBy(provider, request, params)
  await arrival.run(arrivedAt, async () => {
    await provider.callback()(incoming, reply.raw as ServerResponse)
  })
}

/** The request with its body to be read anew, and with the protocol that the world uses. */
export function asSeenBy(
  provider: Provider,
  { raw }: FastifyRequest,
  params?: URLSearchParams,
): IncomingMessage {
  const body = Buffer.from(params?.toString() ?? '')
  const { 'x-forwarded-host': _, ...headers } = raw.headers
  return Object.assign(Readable.from([body]), {
    method: raw.method,
    url: raw.url,
    socket: raw.socket,
    httpVersion: raw.httpVersion,
    headers: {
      ...headers,
      'x-forwarded-proto': new URL(provider.issuer).protocol.slice(0, -1),
      ...(params && { 'content-type': formType, 'content-length': String(body.length) }),
    },
  }) as unknown as IncomingMessage
}

/** The fields of a form; a body of any other kind has none. */
export const readForm = ({ body }: FastifyRequest): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams()

/** The parameters of a form or a JSON body; undefined for a body that is neither. */
export function readParams(body: unknown): URLSearchParams | undefined {
  if (body instanceof URLSearchParams) return body
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  const entries = Object.entries(body).filter(([, value]) => value !== null)
  if (entries.some(([, value]) => typeof value !== 'string')) return undefined
  return new URLSearchParams(entries as [string, string][])
}
