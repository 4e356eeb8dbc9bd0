/** One problem of one field, as it stands in `error.details`. */
export interface Problem {
  field: string
  message: string
}

interface ErrorExtras {
  details?: Problem[]
  headers?: Record<string, string>
  retryAfterSeconds?: number
  cause?: unknown
}

/** An answer other than success. Its message is public; what only we should know goes into `cause`. */
export class ApiError extends Error {
  readonly status: number
  readonly code: ErrorCode
  readonly details: Problem[] | undefined
  readonly headers: Record<string, string>
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, { cause: extras.cause })
    this.status = errorCodes[code].status
    this.code = code
    this.details = extras.details
    this.headers = extras.headers ?? {}
    this.retryAfterSeconds = extras.retryAfterSeconds
  }
}

export const errorCodes = {
  BAD_REQUEST: { status: 400, meaning: 'The body is not valid JSON.' },
  UNAUTHORIZED: { status: 401, meaning: 'The credential is missing, unknown, expired or revoked.' },
  FORBIDDEN: { status: 403, meaning: 'The credential is valid but may not do this.' },
  NOT_FOUND: { status: 404, meaning: 'There is no such record, or the caller may not see it.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The path exists, but not with this method.' },
  CONFLICT: { status: 409, meaning: 'The request contradicts the present state of a record.' },
  PRECONDITION_FAILED: {
    status: 412,
    meaning: 'The record has changed since the version named in If-Match.',
  },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body is larger than the server accepts.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is not of a media type this operation takes.' },
  VALIDATION_ERROR: { status: 422, meaning: 'Fields of the body or query are wrong; each is in `details`.' },
  RATE_LIMIT_EXCEEDED: { status: 429, meaning: 'Too many requests; wait `retry_after` seconds.' },
  INTERNAL_ERROR: { status: 500, meaning: 'Something broke on our side.' },
  OVERLOADED: { status: 503, meaning: 'The service has more to do than it can; wait `retry_after` seconds.' },
  UNAVAILABLE: { status: 503, meaning: 'The service cannot answer right now; try again shortly.' },
} as const

export type ErrorCode = keyof typeof errorCodes

export const badRequest = (message: string, extras?: ErrorExtras) =>
  new ApiError('BAD_REQUEST', message, extras)

export const unauthorized = (message: string) =>
  new ApiError('UNAUTHORIZED', message, { headers: { 'www-authenticate': 'Bearer realm="plotbase"' } })

export const forbidden = (message: string) => new ApiError('FORBIDDEN', message)

/** Says nothing of the id: an id of another workspace must answer exactly like one that never existed. */
export const notFound = (what: string) => new ApiError('NOT_FOUND', `There is no ${what} with this id.`)

export const conflict = (message: string, extras?: ErrorExtras) => new ApiError('CONFLICT', message, extras)

export const invalid = (details: Problem[]) => {
  const others = details.length - 1
  const first = details[0]!
  const rest = others === 0 ? '' : ` (and ${others} more)`
  return new ApiError('VALIDATION_ERROR', `Validation failed: ${first.field} ${first.message}${rest}`, {
    details,
  })
}

export const invalidField = (field: string, message: string) => invalid([{ field, message }])

export const unavailable = (message: string) => new ApiError('UNAVAILABLE', message, { retryAfterSeconds: 5 })
