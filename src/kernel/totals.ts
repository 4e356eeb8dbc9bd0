/*
 * Totals of lists. Counting is nine tenths of a list of a million rows, so a total is counted with
 * the page only up to a cap; beyond it, the figure is remembered and counted anew in the background
 * at most every few seconds. A figure that nobody asked for in a while is forgotten, so that none is
 * ever old. Up to the cap a total is always exact.
 */

interface Known {
  total: number
  countedAt: number
  counting: boolean
}

const freshMs = 5_000
const usableMs = 15_000
const mostRemembered = 10_000

export class Totals {
  readonly cap: number
  readonly #known = new Map<string, Known>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void, cap = 10_000) {
    this.cap = cap
    this.#onError = onError
  }

  /** The remembered total of a large list; undefined when it has to be counted with the page. */
  known(key: string, now: Date, count: () => Promise<number>): number | undefined {
    const entry = this.#known.get(key)
    if (!entry) return undefined
    const ageMs = now.getTime() - entry.countedAt
    if (ageMs > usableMs) {
      this.#known.delete(key)
      return undefined
    }
    if (!entry.counting && ageMs > freshMs) this.#refresh(key, entry, now, count)
    return entry.total
  }

  /** Takes the capped count of a page; past the cap, counts once in full and remembers it. */
  async exact(
    key: string,
    now: Date,
    capped: number,
    count: () => PromiseLike<Record<string, number>[]>,
  ): Promise<number> {
    if (capped <= this.cap) return capped
    const total = (await count())[0]!.total!
    if (this.#known.size >= mostRemembered) this.#known.clear()
    this.#known.set(key, { total, countedAt: now.getTime(), counting: false })
    return total
  }

  #refresh(key: string, entry: Known, now: Date, count: () => Promise<number>): void {
    entry.counting = true
    count().then(
      (total) => {
        if (total <= this.cap) this.#known.delete(key)
        else this.#known.set(key, { total, countedAt: now.getTime(), counting: false })
      },
      (error) => {
        this.#known.delete(key)
        this.#onError(error)
      },
    )
  }
}
