import type { Answer } from './endpoint.ts'
import type { ApiError } from './errors.ts'

/** The bytes of an answer: `{success, data, meta, links}` or `{success, error}`. */
export function envelope(answer: Answer): string {
  if (answer.error) return JSON.stringify({ success: false, error: answer.error })
  return JSON.stringify({ success: true, data: answer.data, meta: answer.meta, links: answer.links })
}

export function errorAnswer(error: ApiError, requestId?: string): Answer {
  const { code, message, details, retryAfterSeconds } = error
  return {
    status: error.status,
    headers: {
      ...error.headers,
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    },
    error: {
      code,
      message,
      ...(details && { details }),
      ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
      ...(error.status >= 500 && requestId && { request_id: requestId }),
    },
  }
}

/** Keeps the fields asked for; `id` and what `expand` added stay. */
export function pickFields(data: unknown, fields: string[] | undefined, expand: string[]): unknown {
  if (!fields) return data
  const kept = new Set(['id', ...fields, ...expand])
  const pick = (record: object) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => kept.has(name)))
  return Array.isArray(data) ? data.map(pick) : pick(data as object)
}
