/** How a receiver was, as far as it tells how much of it may be begun at once. */
export type Pace = 'quick' | 'slow' | 'silent'

interface Known {
  pace: Pace | 'unknown'
  /** Attempts in a row that nobody answered. */
  silences: number
}

interface Share {
  running: number
  /** Running or waiting here for their turn. */
  held: number
}

const unknown: Known = { pace: 'unknown', silences: 0 }
const mostSilences = 3
// What is forgotten is found out again with the next attempt.
const mostKnown = 1_000

/**
 * Bounds what runs at once, overall and per host: what comes for a busy host waits without taking the
 * place of others, and a free place goes to the host that has fewest. A host has to answer before it
 * gets its full share; one that lets attempts time out keeps two places, so that even a hundred dead
 * receivers leave room for the others.
 */
export class Hosts<T> {
  readonly #mostPerHost: number
  readonly #most: number
  readonly #run: (item: T) => Promise<Pace | undefined>
  readonly #waiting = new Map<string, T[]>()
  readonly #running = new Map<string, number>()
  readonly #known = new Map<string, Known>()
  #runningInAll = 0
  #waitingInAll = 0
  #closed = false
  #onIdle: (() => void) | undefined

  constructor(mostPerHost: number, most: number, run: (item: T) => Promise<Pace | undefined>) {
    this.#mostPerHost = mostPerHost
    this.#most = most
    this.#run = run
  }

  get size(): number {
    return this.#runningInAll + this.#waitingInAll
  }

  /** How many more may come for a host of which nothing is known. */
  get usualRoom(): number {
    return this.#shareOf('unknown').held
  }

  /**
   * How many more may come for each other host. One of which much is here gets more when a quarter of
   * its share is free: many at once cost the database little more than one.
   */
  rooms(): Map<string, number> {
    const hosts = new Set([...this.#known.keys(), ...this.#running.keys(), ...this.#waiting.keys()])
    return new Map([...hosts].map((host) => [host, this.#roomFor(host)]))
  }

  add(host: string, item: T): void {
    if (this.#closed) return
    const queue = this.#waiting.get(host)
    if (queue) queue.push(item)
    else this.#waiting.set(host, [item])
    this.#waitingInAll++
    this.#fill()
  }

  /** Starts nothing more, and waits for what runs. */
  async drain(): Promise<void> {
    this.#closed = true
    if (this.#runningInAll === 0) return
    await new Promise<void>((resume) => {
      this.#onIdle = resume
    })
  }

  #roomFor(host: string): number {
    const { held } = this.#shareFor(host)
    const here = (this.#running.get(host) ?? 0) + (this.#waiting.get(host)?.length ?? 0)
    const room = held - here
    return room * 4 >= held ? room : 0
  }

  #shareFor(host: string): Share {
    return this.#shareOf((this.#known.get(host) ?? unknown).pace)
  }

  #shareOf(pace: Known['pace']): Share {
    const whole = this.#mostPerHost
    const part = (share: number) => Math.ceil(whole * share)
    if (pace === 'quick') return { running: whole, held: 2 * whole }
    if (pace === 'slow') return { running: whole, held: whole + part(1 / 8) }
    if (pace === 'silent') return { running: Math.min(2, whole), held: Math.min(4, 2 * whole) }
    return { running: part(1 / 4), held: part(1 / 2) }
  }

  #fill(): void {
    while (!this.#closed && this.#runningInAll < this.#most) {
      const host = this.#hostWithFewest()
      if (host === undefined) return
      const queue = this.#waiting.get(host)!
      const item = queue.shift()!
      if (queue.length === 0) this.#waiting.delete(host)
      this.#waitingInAll--
      this.#running.set(host, (this.#running.get(host) ?? 0) + 1)
      this.#runningInAll++
      void this.#run(item).then(
        (pace) => this.#ended(host, pace),
        () => this.#ended(host, undefined),
      )
    }
  }

  #hostWithFewest(): string | undefined {
    let found: string | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const host of this.#waiting.keys()) {
      const running = this.#running.get(host) ?? 0
      if (running >= fewest || running >= this.#shareFor(host).running) continue
      if (running === 0) return host
      found = host
      fewest = running
    }
    return found
  }

  #ended(host: string, pace: Pace | undefined): void {
    const left = this.#running.get(host)! - 1
    if (left === 0) this.#running.delete(host)
    else this.#running.set(host, left)
    this.#runningInAll--
    if (pace) this.#learn(host, pace)
    if (!this.#closed) this.#fill()
    else if (this.#runningInAll === 0) this.#onIdle?.()
  }

  #learn(host: string, pace: Pace): void {
    const before = this.#known.get(host) ?? unknown
    const silences = pace === 'silent' ? before.silences + 1 : 0
    const isSilent = silences >= mostSilences
    if (this.#known.size >= mostKnown) this.#known.clear()
    this.#known.set(host, {
      pace: pace !== 'silent' ? pace : isSilent ? 'silent' : before.pace,
      silences,
    })
    if (isSilent) this.#letGo(host)
  }

  /** What waits beyond the share is left to whoever takes it when its lease is over. */
  #letGo(host: string): void {
    const queue = this.#waiting.get(host)
    if (!queue) return
    const { running, held } = this.#shareFor(host)
    const surplus = queue.splice(held - running)
    this.#waitingInAll -= surplus.length
  }
}
