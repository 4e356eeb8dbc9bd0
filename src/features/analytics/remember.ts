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
  refreshing: boolean
}

const known = new Map<string, Known>()

export async function remembered(key: string, count: () => Promise<Counted<unknown>>): Promise<unknown> {
  const entry = known.get(key)
  const ageMs = entry ? performance.now() - entry.at : Number.POSITIVE_INFINITY
  if (!entry || ageMs > usableMs) return countAndKeep(key, count)
  if (ageMs > freshMs && !entry.refreshing) {
    entry.refreshing = true
    countAndKeep(key, count).catch(() => known.delete(key))
  }
  return entry.figures
}

async function countAndKeep(key: string, count: () => Promise<Counted<unknown>>): Promise<unknown> {
  const { figures, rows } = await count()
  if (rows < manyRows) known.delete(key)
  else {
    if (known.size >= mostRemembered) known.clear()
    known.set(key, { figures, at: performance.now(), refreshing: false })
  }
  return figures
}
