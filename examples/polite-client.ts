import { setTimeout as sleep } from 'node:timers/promises'

/** Sends requests as fast as the limits allow: it reads what is left from each answer, and waits before it is refused. */
export class PoliteClient {
  readonly #baseUrl: string
  readonly #key: string
  #sent = 0
  #inFlight = 0
  /** How many more requests are certain to fit. */
  #room = 0
  #resumeAtMs = 0
  #nextAnswer = Promise.withResolvers<void>()

  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl
    this.#key = key
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const { inFlightBefore, sentBefore } = await this.#turn()
    const headers = { ...init.headers, authorization: `Bearer ${this.#key}` }
    let answer: Response
    try {
      answer = await fetch(this.#baseUrl + path, { ...init, headers })
      // What was under way at the same time may or may not be in the figures: take it off.
      this.#learn(answer, inFlightBefore + (this.#sent - sentBefore - 1))
    } finally {
      this.#inFlight--
      this.#nextAnswer.resolve()
      this.#nextAnswer = Promise.withResolvers()
    }
    const isRefused = answer.status === 429 || answer.status === 503
    return isRefused ? this.fetch(path, init) : answer
  }

  async #turn() {
    for (;;) {
      const waitMs = this.#resumeAtMs - Date.now()
      if (waitMs > 0) await sleep(waitMs)
      else if (this.#room > 0 || this.#inFlight === 0) break
      else await this.#nextAnswer.promise
    }
    this.#room--
    return { inFlightBefore: this.#inFlight++, sentBefore: this.#sent++ }
  }

  #learn({ headers }: Response, beside: number): void {
    // RateLimit: "burst";r=24;t=1, "minute";r=119;t=42
    const windows = [...(headers.get('ratelimit') ?? '').matchAll(/;r=(\d+);t=(\d+)/g)]
    this.#room = Math.min(...windows.map(([, left]) => Number(left))) - beside
    const full = windows.filter(([, left]) => left === '0').map(([, , seconds]) => Number(seconds))
    const waitSeconds = Math.max(0, Number(headers.get('retry-after')), ...full)
    this.#resumeAtMs = Math.max(this.#resumeAtMs, Date.now() + waitSeconds * 1_000)
  }
}
