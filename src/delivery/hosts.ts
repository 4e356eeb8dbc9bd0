/**
 * Bounds what runs at once, overall and per host: what comes for a busy host waits without taking
 * the place of others.
 */
export class Hosts<T> {
  readonly #mostPerHost: number
  readonly #most: number
  readonly #run: (item: T) => Promise<void>
  readonly #waiting = new Map<string, T[]>()
  readonly #running = new Map<string, number>()
  /** What each host has here, running or waiting. */
  readonly busy = new Map<string, number>()
  #runningInAll = 0
  #waitingInAll = 0
  #closed = false
  #onIdle: (() => void) | undefined

  constructor(mostPerHost: number, most: number, run: (item: T) => Promise<void>) {
    this.#mostPerHost = mostPerHost
    this.#most = most
    this.#run = run
  }

  get size(): number {
    return this.#runningInAll + this.#waitingInAll
  }

  add(host: string, item: T): void {
    if (this.#closed) return
    this.#change(this.busy, host, 1)
    const queue = this.#waiting.get(host)
    if (queue) queue.push(item)
    else this.#waiting.set(host, [item])
    this.#waitingInAll++
    this.#start(host)
  }

  /** Starts nothing more, and waits for what runs. */
  async drain(): Promise<void> {
    this.#closed = true
    if (this.#runningInAll === 0) return
    await new Promise<void>((resume) => {
      this.#onIdle = resume
    })
  }

  #start(host: string): void {
    while (!this.#closed && this.#runningInAll < this.#most) {
      if ((this.#running.get(host) ?? 0) >= this.#mostPerHost) return
      const item = this.#next(host)
      if (item === undefined) return
      this.#change(this.#running, host, 1)
      this.#runningInAll++
      void this.#run(item).finally(() => this.#ended(host))
    }
  }

  #next(host: string): T | undefined {
    const queue = this.#waiting.get(host)
    const item = queue?.shift()
    if (queue?.length === 0) this.#waiting.delete(host)
    if (item !== undefined) this.#waitingInAll--
    return item
  }

  #ended(host: string): void {
    this.#change(this.#running, host, -1)
    this.#change(this.busy, host, -1)
    this.#runningInAll--
    if (this.#closed) {
      if (this.#runningInAll === 0) this.#onIdle?.()
      return
    }
    this.#start(host)
    // The place may be free for another host now.
    if (this.#waitingInAll > 0 && this.#runningInAll < this.#most)
      for (const other of this.#waiting.keys()) this.#start(other)
  }

  #change(counts: Map<string, number>, host: string, by: number): void {
    const number = (counts.get(host) ?? 0) + by
    if (number === 0) counts.delete(host)
    else counts.set(host, number)
  }
}
