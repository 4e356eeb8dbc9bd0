import type { Logger } from 'pino'
import { stoppedError } from '../features/webhooks/stop.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Secrets } from '../kernel/context.ts'
import type { Courier, Outcome } from '../kernel/courier.ts'
import type { Pool } from '../kernel/sql.ts'
import type { Canary } from './canary.ts'
import { Hosts, type Pace } from './hosts.ts'
import type { DeliveryMetrics } from './metrics.ts'
import { type Claimed, claimDue, type Result, refreshed } from './queue.ts'
import { Recorder } from './recorder.ts'
import { afterFailure } from './schedule.ts'

export interface DeliveryLimits {
  /** Attempts under way at once, in this process. */
  concurrency: number
  concurrencyPerHost: number
  timeoutMs: number
  /** Before the second attempt, the third, … */
  retryDelaysMs: readonly number[]
}

export interface DelivererDeps {
  sql: Pool
  clock: Clock
  log: Logger
  secrets: Secrets
  courier: Courier
  limits: DeliveryLimits
  metrics: DeliveryMetrics
  canary: Canary
}

// A claim is tried within two deadlines, its own and that of whoever goes first at the host; the rest is for
// writing down what became of it, which on a busy machine can take seconds. Whoever finds less time than an
// attempt needs leaves the claim to expire.
const leaseFor = (timeoutMs: number) => 3 * timeoutMs + 10_000
const marginMs = 1_000
// A claim that was taken so recently is tried as it is.
const trustedMs = 250

/** Tries what is due: takes claims as there is room for them, and has each attempt recorded. */
export class Deliverer {
  readonly #deps: DelivererDeps
  readonly #hosts: Hosts<Held>
  readonly #recorder: Recorder
  readonly #openSecrets = new Map<string, string>()
  #newestFirst = false

  /** `wake` asks for another round of claims: results were written, so there is room. */
  constructor(deps: DelivererDeps, wake: () => void) {
    this.#deps = deps
    const { concurrency, concurrencyPerHost } = deps.limits
    this.#hosts = new Hosts(concurrencyPerHost, concurrency, (held) => this.#tryOrLeave(held))
    this.#recorder = new Recorder(deps, wake)
  }

  /** Claims as much as there is room for. Called again whenever there may be something due. */
  async claim(): Promise<void> {
    const { sql, clock, limits } = this.#deps
    // Claims are taken a little ahead, so that no attempt waits for the database.
    const room = 2 * limits.concurrency - this.#hosts.size - this.#recorder.size
    if (room < limits.concurrency / 4) return
    const leaseMs = leaseFor(limits.timeoutMs)
    const leasedAt = performance.now()
    // Every other time the newest come first: a backlog then neither starves nor delays what just happened.
    this.#newestFirst = !this.#newestFirst
    const claimed = await claimDue(sql, {
      now: clock.now(),
      most: room,
      usualRoom: this.#hosts.usualRoom,
      rooms: this.#hosts.rooms(),
      leaseMs,
      newestFirst: this.#newestFirst,
    })
    for (const one of claimed)
      this.#hosts.add(one.host, { claimed: one, leasedAt, leasedUntil: leasedAt + leaseMs })
  }

  /** Waits for what is under way; what was only claimed is left to others. */
  async drain(): Promise<void> {
    await this.#hosts.drain()
    await this.#recorder.drain()
  }

  // What we cannot even try, such as a secret that no key opens, stays in the queue until somebody can.
  async #tryOrLeave(held: Held): Promise<Pace | undefined> {
    try {
      const claimed = await this.#stillStanding(held)
      return claimed && (await this.#try(claimed))
    } catch (error) {
      this.#deps.log.error({ err: error, delivery: held.claimed.id }, 'could not try a delivery')
      return undefined
    }
  }

  /** What waited for its turn is looked at again: its webhook may have been turned off or moved meanwhile. */
  async #stillStanding({ claimed, leasedAt, leasedUntil }: Held): Promise<Claimed | undefined> {
    const { sql, clock, limits } = this.#deps
    const now = performance.now()
    if (now + limits.timeoutMs + marginMs > leasedUntil) return undefined
    return now - leasedAt < trustedMs ? claimed : refreshed(sql, claimed, clock.now())
  }

  async #try(claimed: Claimed): Promise<Pace | undefined> {
    const { clock, courier, limits, metrics, canary } = this.#deps
    const refusal = refusalOf(claimed)
    if (refusal) {
      this.#recorder.add(unsent(claimed, refusal, clock.now()))
      return undefined
    }
    if (claimed.status === null && claimed.step === 0)
      metrics.firstAttemptAfter(clock.now().getTime() - Date.parse(claimed.event_at!))
    const outcome = await courier.deliver({
      url: claimed.url,
      format: claimed.format,
      secret: this.#open(claimed.sealed_secret),
      previousSecret: claimed.sealed_previous_secret && this.#open(claimed.sealed_previous_secret),
      event: {
        id: claimed.event_id,
        name: claimed.event,
        at: claimed.event_at!,
        workspaceId: claimed.workspace_id,
        data: claimed.data!,
      },
    })
    metrics.attempted(outcome.result, outcome.attempt.duration_ms)
    canary.moved()
    const at = new Date(outcome.attempt.timestamp)
    const { attempt, earlier } = outcome
    const common = { claimed, attempt, earlier, at, error: attempt.error }
    const pace = paceOf(outcome)
    if (attempt.error === null) {
      const done = { delivered: true, step: claimed.step + 1, dueAt: null, resumeAt: null }
      this.#recorder.add({ ...common, ...done })
      return pace
    }
    const standing = { step: claimed.step, resumeAt: claimed.resume_at ? new Date(claimed.resume_at) : null }
    const next = afterFailure(standing, clock.now(), outcome.retryAfterMs, limits.retryDelaysMs)
    this.#recorder.add({ ...common, delivered: false, ...next })
    return pace
  }

  // Opening a sealed text costs as much as signing one, and a webhook has the same for months.
  #open(sealed: string): string {
    const known = this.#openSecrets.get(sealed)
    if (known !== undefined) return known
    if (this.#openSecrets.size >= 1_000) this.#openSecrets.clear()
    const secret = this.#deps.secrets.open(sealed)
    this.#openSecrets.set(sealed, secret)
    return secret
  }
}

interface Held {
  claimed: Claimed
  /** Both on this process's own clock. */
  leasedAt: number
  leasedUntil: number
}

const forgottenError = 'The event is no longer kept.'
const slowMs = 1_000

/** Why nothing is sent; undefined when something is. */
function refusalOf({ active, data }: Claimed): string | undefined {
  if (!active) return stoppedError
  return data === null ? forgottenError : undefined
}

function paceOf({ result, attempt }: Outcome): Pace {
  if (result === 'timeout') return 'silent'
  return attempt.duration_ms > slowMs ? 'slow' : 'quick'
}

const unsent = (claimed: Claimed, error: string, at: Date): Result => ({
  claimed,
  delivered: false,
  attempt: null,
  error,
  at,
  step: claimed.step,
  dueAt: null,
  resumeAt: null,
})
