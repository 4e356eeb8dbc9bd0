import type { Clock } from '../src/kernel/clock.ts'

/** Time that moves only when a test says so. */
export class ManualClock implements Clock {
  #now: Date
  constructor(start: string) {
    this.#now = new Date(start)
  }
  now(): Date {
    return new Date(this.#now)
  }
  advance(ms: number): void {
    this.#now = new Date(this.#now.getTime() + ms)
  }
}
