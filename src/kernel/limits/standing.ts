import { ApiError } from '../errors.ts'
import type { Budget, Window } from './budget.ts'

/** Where a caller stands in each window, the present request included. */
export interface Standing {
  readonly budget: Budget
  readonly atMs: number
  /** In the order of the budget's windows. */
  readonly used: readonly number[]
  readonly endsAtMs: readonly number[]
  readonly admitted: boolean
}

export const remainingIn = ({ budget, used }: Standing, place: number): number =>
  Math.max(0, budget.windows[place]!.limit - used[place]!)

const secondsUntil = (endMs: number, nowMs: number) => Math.max(1, Math.ceil((endMs - nowMs) / 1_000))

// All requests of a minute show the same time, and making its text is the dearest part of the headers.
let lastReset = { ms: 0, text: '0' }
function unixSeconds(ms: number): string {
  if (lastReset.ms !== ms) lastReset = { ms, text: String(ms / 1_000) }
  return lastReset.text
}

/** The headers of every answer: X-RateLimit-* for the minute, and the IETF's for all windows that have a limit. */
export function limitHeaders(standing: Standing): Record<string, string> {
  const { budget, endsAtMs, atMs } = standing
  const { windows, shown } = budget
  let all = ''
  for (let place = 0; place < windows.length; place++) {
    const { name, limit } = windows[place]!
    if (limit === Infinity) continue
    if (all !== '') all += ', '
    all += `"${name}";r=${remainingIn(standing, place)};t=${secondsUntil(endsAtMs[place]!, atMs)}`
  }
  return {
    'x-ratelimit-limit': budget.limitShown,
    'x-ratelimit-remaining': String(remainingIn(standing, shown)),
    'x-ratelimit-reset': unixSeconds(endsAtMs[shown]!),
    ratelimit: all,
    'ratelimit-policy': budget.policy,
  }
}

/** Of the windows that are full, the one that opens last: until then the request would not be admitted. */
export function tooMany(standing: Standing): ApiError {
  const { budget, used, endsAtMs, atMs } = standing
  const full = budget.windows
    .map((_, place) => place)
    .filter((place) => used[place]! >= budget.windows[place]!.limit)
  const last = full.reduce((latest, place) => (endsAtMs[place]! > endsAtMs[latest]! ? place : latest))
  const seconds = secondsUntil(endsAtMs[last]!, atMs)
  return new ApiError(
    'RATE_LIMIT_EXCEEDED',
    `${inWords(budget.windows[last]!)} Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
    { retryAfterSeconds: seconds },
  )
}

function inWords({ name, limit }: Window): string {
  switch (name) {
    case 'burst':
      return `Limit "burst" reached: ${limit} requests in one second.`
    case 'minute':
      return `Limit "minute" reached: ${limit} requests a minute.`
    case 'day':
      return `Limit "day" reached: ${limit} requests a day (UTC).`
    case 'address':
      return `Limit "address" reached: ${limit} requests a minute from one address without a valid credential.`
    default:
      return `Limit "${name}" reached: ${limit} requests of this kind a minute.`
  }
}
