import type { Window } from './budget.ts'

/*
 * The counts of this process. A counter belongs to one window at a time and starts again when the
 * clock has left it, so nothing has to run when a window ends.
 */

export interface Counter {
  used: number
  /** When its window ends; every time from `lengthMs` before it up to it is inside. */
  endsAtMs: number
}

const sweepEveryMs = 60_000

export class Counters {
  readonly #counters = new Map<string, Counter>()
  readonly #most: number
  #sweptAtMs = 0

  /** Past `most` counters everything is forgotten: for counters that a stranger can make as many of as they like. */
  constructor(most = Infinity) {
    this.#most = most
  }

  /** The counter of the window that this moment falls into. */
  at({ key, lengthMs }: Window, nowMs: number): Counter {
    const counter = this.#counters.get(key)
    if (!counter) return this.#add(key, endOf(nowMs, lengthMs), nowMs)
    if (nowMs >= counter.endsAtMs || nowMs < counter.endsAtMs - lengthMs) {
      counter.used = 0
      counter.endsAtMs = endOf(nowMs, lengthMs)
    }
    return counter
  }

  /** Counters in use; for tests and measurements. */
  get size(): number {
    return this.#counters.size
  }

  #add(key: string, endsAtMs: number, nowMs: number): Counter {
    this.#sweep(nowMs)
    const counter = { used: 0, endsAtMs }
    this.#counters.set(key, counter)
    return counter
  }

  #sweep(nowMs: number): void {
    if (this.#counters.size >= this.#most) this.#counters.clear()
    if (Math.abs(nowMs - this.#sweptAtMs) < sweepEveryMs) return
    this.#sweptAtMs = nowMs
    for (const [key, { endsAtMs }] of this.#counters) if (endsAtMs <= nowMs) this.#counters.delete(key)
  }
}

export const endOf = (nowMs: number, lengthMs: number) => (Math.floor(nowMs / lengthMs) + 1) * lengthMs
