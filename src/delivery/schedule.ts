/** Where a delivery stands in its schedule. */
export interface Standing {
  /** Scheduled attempts made so far, the present one not counted. */
  step: number
  /** Set when the present attempt was brought forward by Retry-After: when the schedule goes on. */
  resumeAt: Date | null
}

export interface Next extends Standing {
  /** When to try again; null when the schedule is used up. */
  dueAt: Date | null
}

// A receiver that says "at once" gets a moment all the same.
const leastRetryAfterMs = 1_000

/**
 * What follows a failed attempt. Retry-After brings the next attempt forward and never puts it off;
 * an attempt brought forward does not count towards the schedule, or a busy receiver that asks for
 * patience would use up five attempts within minutes and be disabled.
 */
export function afterFailure(
  { step, resumeAt }: Standing,
  now: Date,
  retryAfterMs: number | null,
  delaysMs: readonly number[],
): Next {
  if (resumeAt) return { step, dueAt: later(resumeAt, now), resumeAt: null }
  const delayMs = delaysMs[step]
  if (delayMs === undefined) return { step: step + 1, dueAt: null, resumeAt: null }
  const scheduled = new Date(now.getTime() + delayMs)
  const sooner = retryAfterMs === null ? delayMs : Math.max(retryAfterMs, leastRetryAfterMs)
  if (sooner >= delayMs) return { step: step + 1, dueAt: scheduled, resumeAt: null }
  return { step: step + 1, dueAt: new Date(now.getTime() + sooner), resumeAt: scheduled }
}

const later = (a: Date, b: Date) => (a > b ? a : b)
