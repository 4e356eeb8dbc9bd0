import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { Window } from '../kernel/limits/budget.ts'
import type { SharedCounters } from '../kernel/limits/limiter.ts'
import type { Standing } from '../kernel/limits/standing.ts'

/*
 * The counts of several processes, in Redis. When Redis is slow or gone, requests stop asking for it
 * at the first late answer; a probe beside them finds out when it is back. What Redis has lost
 * meanwhile it learns from the processes, each of which sends along what it knows was used.
 */

// In one script, so that a request is counted in every window or in none, in one round trip.
// For each key: the limit (-1 for none), what the process knows was used, and how long the key is needed.
const takeScript = `
local used, admitted = {}, 1
for i, key in ipairs(KEYS) do
  local limit, known = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1])
  used[i] = math.max(tonumber(redis.call('get', key) or 0), known)
  if limit >= 0 and used[i] >= limit then admitted = 0 end
end
for i, key in ipairs(KEYS) do
  used[i] = used[i] + admitted
  if admitted == 1 then redis.call('set', key, used[i], 'px', ARGV[3 * i]) end
end
table.insert(used, 1, admitted)
return used`

/** The longest that a request waits for Redis. */
const usualPatienceMs = 50
const probeEveryMs = 250
// Packets that are lost without a word leave a connection open that never answers again.
const silentProbesBeforeReconnect = 8

type TakeWindows = (keys: number, ...args: (string | number)[]) => Promise<number[]>

export class RedisCounters implements SharedCounters {
  readonly #redis: Redis
  readonly #log: Logger
  readonly #patienceMs: number
  readonly #probing: NodeJS.Timeout
  #reachable = false
  #told = true
  #silentProbes = 0

  /** The address may hold a password: it is never logged. */
  constructor(url: string, log: Logger, patienceMs = usualPatienceMs) {
    this.#log = log
    this.#patienceMs = patienceMs
    this.#redis = new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 1_000,
      retryStrategy: () => probeEveryMs,
      // The commands of one turn of the event loop go out together.
      enableAutoPipelining: true,
    })
    this.#redis.defineCommand('takeWindows', { lua: takeScript })
    this.#redis.on('error', () => {})
    this.#redis.on('close', () => this.#away('the connection was closed'))
    this.#redis.on('ready', () => void this.#probe())
    this.#probing = setInterval(() => void this.#probe(), probeEveryMs)
    this.#probing.unref()
  }

  get reachable(): boolean {
    return this.#reachable
  }

  /** Waits shortly for the first answer; a start does not fail on Redis. */
  async start(withinMs = 1_000): Promise<void> {
    const deadline = performance.now() + withinMs
    while (!this.#reachable && performance.now() < deadline) {
      await new Promise((resume) => setTimeout(resume, 10))
      await this.#probe()
    }
    this.#told = false
    if (!this.#reachable) this.#tell('it did not answer at the start')
  }

  async take(
    windows: readonly Window[],
    { used, endsAtMs, atMs }: Pick<Standing, 'used' | 'endsAtMs' | 'atMs'>,
  ): Promise<{ admitted: boolean; used: number[] } | undefined> {
    const keys = windows.map(({ key, lengthMs }, place) => `plotbase:${key}:${endsAtMs[place]! / lengthMs}`)
    const details = windows.flatMap(({ limit }, place) => [
      limit === Infinity ? -1 : limit,
      used[place]!,
      // A second more, for clocks that differ.
      Math.ceil(endsAtMs[place]! - atMs) + 1_000,
    ])
    const { takeWindows } = this.#redis as unknown as { takeWindows: TakeWindows }
    try {
      const [admitted, ...counts] = await inTime(
        takeWindows.call(this.#redis, keys.length, ...keys, ...details),
        this.#patienceMs,
      )
      return { admitted: admitted === 1, used: counts }
    } catch (error) {
      this.#away((error as Error).message)
      return undefined
    }
  }

  close(): void {
    clearInterval(this.#probing)
    this.#told = true
    this.#redis.disconnect()
  }

  async #probe(): Promise<void> {
    if (this.#reachable || this.#redis.status !== 'ready') return
    try {
      await inTime(this.#redis.ping(), this.#patienceMs)
    } catch {
      if (++this.#silentProbes % silentProbesBeforeReconnect === 0) this.#redis.disconnect(true)
      return
    }
    this.#silentProbes = 0
    if (this.#reachable) return
    this.#reachable = true
    if (this.#told) this.#log.info('Redis answers: the processes share their limits')
  }

  #away(reason: string): void {
    if (!this.#reachable) return
    this.#reachable = false
    this.#tell(reason)
  }

  #tell(reason: string): void {
    this.#told = true
    this.#log.warn({ reason }, 'Redis does not answer: each process limits on its own until it does')
  }
}

/**
 * Rejects what takes too long. A timer that fires late shows a pause of our own, in which the answer
 * came and was not read, or the question was not even sent: that is not Redis' fault, and it gets
 * its time once more.
 */
function inTime<T>(answer: Promise<T>, patienceMs: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const askedAt = performance.now()
    const late = () => reject(new Error(`no answer in ${patienceMs} ms`))
    let timer = setTimeout(() => {
      const paused = performance.now() - askedAt > patienceMs * 1.5
      timer = setTimeout(late, paused ? patienceMs : 0)
    }, patienceMs)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
