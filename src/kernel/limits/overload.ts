import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { errorAnswer } from '../envelope.ts'
import { ApiError } from '../errors.ts'
import { send } from '../pipeline.ts'
import type { HeadersFor } from '../unroutable.ts'

/** From when on new requests are refused; 0 for never. */
export interface OverloadThresholds {
  /** How late the event loop may be. */
  loopDelayMs: number
  /** How long a statement may wait for a connection and its answer. */
  poolWaitMs: number
}

const tickMs = 50
const probeEveryMs = 250
// Told when it begins; a load that swings about the threshold must not fill the log.
const tellEveryMs = 10_000

/**
 * Watches what requests queue for: the event loop, by a timer that should fire in time, and the
 * database, by a statement that waits in line like all others.
 */
export class Overload {
  readonly #thresholds: OverloadThresholds
  readonly #probe: () => PromiseLike<unknown>
  readonly #log: Logger
  readonly #timers: NodeJS.Timeout[] = []
  #tickDueAt = Infinity
  #lastTickLateMs = 0
  #probeSentAt: number | undefined
  #lastProbeMs = 0
  #toldAt = -Infinity

  constructor(thresholds: OverloadThresholds, probe: () => PromiseLike<unknown>, log: Logger) {
    this.#thresholds = thresholds
    this.#probe = probe
    this.#log = log
  }

  start(): void {
    if (this.#thresholds.loopDelayMs > 0) {
      this.#tickDueAt = performance.now() + tickMs
      this.#every(tickMs, () => this.#tick())
    }
    if (this.#thresholds.poolWaitMs > 0) this.#every(probeEveryMs, () => void this.#askDatabase())
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  /** What there is too much of right now, if anything. */
  reason(): 'event loop' | 'database' | undefined {
    const now = performance.now()
    const { loopDelayMs, poolWaitMs } = this.#thresholds
    const late = Math.max(this.#lastTickLateMs, now - this.#tickDueAt)
    if (loopDelayMs > 0 && late > loopDelayMs) return this.#told('event loop', late)
    const waited = Math.max(this.#lastProbeMs, now - (this.#probeSentAt ?? now))
    if (poolWaitMs > 0 && waited > poolWaitMs) return this.#told('database', waited)
    return undefined
  }

  #tick(): void {
    const now = performance.now()
    this.#lastTickLateMs = now - this.#tickDueAt
    this.#tickDueAt = now + tickMs
  }

  // Errors are not overload: a database that is away answers requests with an error of its own.
  async #askDatabase(): Promise<void> {
    if (this.#probeSentAt !== undefined) return
    const sentAt = performance.now()
    this.#probeSentAt = sentAt
    const answered = await Promise.resolve(this.#probe()).then(
      () => true,
      () => false,
    )
    this.#lastProbeMs = answered ? performance.now() - sentAt : 0
    this.#probeSentAt = undefined
  }

  #told<R extends string>(reason: R, ms: number): R {
    const now = performance.now()
    if (now - this.#toldAt > tellEveryMs)
      this.#log.warn({ reason, ms: Math.round(ms) }, 'overloaded: refusing requests')
    this.#toldAt = now
    return reason
  }

  #every(ms: number, work: () => void): void {
    this.#timers.push(setInterval(work, ms).unref())
  }
}

const alwaysAnswered = new Set(['/healthz', '/readyz', '/metrics'])

/** Refuses new requests before anything is done for them, so that those in flight are finished. */
export function shedLoad(app: FastifyInstance, overload: Overload, headersFor: HeadersFor): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (overload.reason() === undefined || isAlwaysAnswered(request)) return done()
    reply.headers(headersFor(request.ip))
    send(request, reply, errorAnswer(tooBusy(), request.id))
  })
}

const isAlwaysAnswered = ({ routeOptions }: FastifyRequest) => alwaysAnswered.has(routeOptions.url ?? '')

const tooBusy = () =>
  new ApiError('OVERLOADED', 'The service has more to do than it can right now. Try again in 1 second.', {
    retryAfterSeconds: 1,
  })
