import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Call } from './endpoint.ts'
import { ApiError } from './errors.ts'

/** A body that is a file: passed on while it comes in, instead of being read into memory and checked. */
export interface UploadSpec {
  /** The media types it can have, with an example of each. */
  types: Record<string, { description: string; example: string }>
  /** Takes the bytes. What comes back is the body of the call. */
  receive(call: Call, file: Incoming): Promise<Received>
}

export interface Incoming {
  type: string
  bytes: Readable
  limitBytes: number
}

export interface Received {
  /** Of all the bytes, so that an Idempotency-Key can't be used for another file. */
  digest: string
  /** Lets go of the bytes. Called when nothing became of them. */
  discard(): Promise<void>
}

/** Hands bodies to their operations as they are, whatever their type. */
export function passBodiesOn(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, body, done) => done(null, body))
}

export function incomingOf(spec: UploadSpec, request: FastifyRequest, limitBytes: number): Incoming {
  const header = request.headers['content-type'] ?? ''
  const type = header.split(';')[0]!.trim().toLowerCase()
  const charset = /;\s*charset="?([\w-]+)/i.exec(header)?.[1] ?? 'utf-8'
  if (!Object.hasOwn(spec.types, type) || !/^(utf-?8|us-ascii)$/i.test(charset)) {
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      `Send the file in UTF-8 as ${Object.keys(spec.types).join(' or ')}.`,
    )
  }
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
  return { type, bytes: (request.body as Readable | undefined) ?? Readable.from([]), limitBytes }
}

export const tooLarge = (limitBytes: number) =>
  new ApiError(
    'PAYLOAD_TOO_LARGE',
    `The file is larger than this server accepts: ${limitBytes} bytes at most.`,
    // The rest of it is not read, so nothing else can come over this connection.
    { headers: { connection: 'close' } },
  )
