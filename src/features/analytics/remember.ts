import type { Counted } from './leads.ts'

/*
 * Figures of large workspaces. Counting a million leads takes longer than anybody wants to wait for a
 * page, so what was counted from many rows is remembered, as totals of lists are: shown for up to a
 * minute, and counted anew in the background when it is older than a few seconds. Small figures are
 * always counted on the spot.
 */
const manyRows = 20_000
const freshMs = 5_000
const usableMs = 60_000
const mostRemembered = 5_000

interface Known {
  figures: unknown
  at: number
}

const known = new Map<string, Known>()

/** What is being counted, and since when. */
const counting = new Map<string, { since: number; figures: Promise<unknown> }>()
// Whoever asks for what takes longer than this waits for the same answer: on a busy morning it would be counted
// ten times at once. What takes less is counted for each, so that they see what they have just written.
const longMs = 250

export async function remembered(key: string, count: () => Promise<Counted<unknown>>): Promise<unknown> {
  const entry = known.get(key)
  const ageMs = entry ? performance.now() - entry.at : Number.POSITIVE_INFINITY
  if (!entry || ageMs > usableMs) return countAndKeep(key, count)
  // One at a time: what is counted already comes soon enough.
  if (ageMs > freshMs && !counting.has(key)) countAndKeep(key, count).catch(() => known.delete(key))
  return entry.figures
}

function countAndKeep(key: string, count: () => Promise<Counted<unknown>>): Promise<unknown> {
  const begun = counting.get(key)
  if (begun && performance.now() - begun.since > longMs) return begun.figures
  const mine = { since: performance.now(), figures: countNow(key, count) }
  counting.set(key, mine)
  return mine.figures.finally(() => counting.get(key) === mine && counting.delete(key))
}

async function countNow(key: string, count: () => Promise<Counted<unknown>>): Promise<unknown> {
  const { figures, rows } = await count()
  if (rows < manyRows) known.delete(key)
  else {
    if (known.size >= mostRemembered) known.clear()
    known.set(key, { figures, at: performance.now() })
  }
  return figures
}
