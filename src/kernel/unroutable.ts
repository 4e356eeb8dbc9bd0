import type { Socket } from 'node:net'
import type { ConnectionError, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { envelope, errorAnswer } from './envelope.ts'
import { ApiError, badRequest } from './errors.ts'
import { randomCharacters } from './ids.ts'

/** Answers to what never reaches a route, in the shape and with the request id that every other answer has. */

/** The headers that every answer to this address carries. */
export type HeadersFor = (ip: string) => Record<string, string>

export const newRequestId = () => `req_${randomCharacters()}`

export const nothingHere = () =>
  new ApiError('NOT_FOUND', 'There is nothing at this path. The reference is at /docs.')

/** A path with broken percent signs, or with a segment longer than any id. No hook runs for these. */
export function answerUnroutable(request: FastifyRequest, reply: FastifyReply, headersFor: HeadersFor): void {
  const answer = errorAnswer(nothingHere())
  reply.headers(headersFor(request.ip))
  reply.code(answer.status).headers({ 'x-request-id': request.id, 'access-control-allow-origin': '*' })
  reply.type('application/json; charset=utf-8').send(envelope(answer))
  request.log.info({ method: request.method, route: 'unknown', status: answer.status })
}

const clientErrors: Record<string, { line: string; message: string }> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    line: '408 Request Timeout',
    message: 'The request was not sent in time.',
  },
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    message: 'The address and headers together are larger than this server accepts.',
  },
}
const unreadable = { line: '400 Bad Request', message: 'This is not a valid HTTP request.' }

/** Bytes that Node could not read as a request: there is a socket, but neither request nor reply. */
export function answerClientError(
  log: Logger,
  error: ConnectionError,
  socket: Socket,
  headersFor: HeadersFor,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const request = newRequestId()
  const { line, message } = clientErrors[error.code] ?? unreadable
  log.info({ request, route: 'unknown', status: Number.parseInt(line, 10), reason: error.code })
  const body = envelope(errorAnswer(badRequest(message)))
  const head = [
    `HTTP/1.1 ${line}`,
    `X-Request-Id: ${request}`,
    'Access-Control-Allow-Origin: *',
    ...Object.entries(headersFor(socket.remoteAddress ?? '')).map(([name, value]) => `${name}: ${value}`),
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroy(error)
}
