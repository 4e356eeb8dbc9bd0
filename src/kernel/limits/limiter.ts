import type { Clock } from '../clock.ts'
import type { Principal } from '../context.ts'
import { addressBudget, type Budget, type Window, windowKey, workspaceBudget } from './budget.ts'
import { type Counter, Counters } from './counters.ts'
import { addressWindow, type EndpointWindow, planWindowMs } from './plans.ts'
import type { Standing } from './standing.ts'

/** Counts that several processes share. */
export interface SharedCounters {
  /** False while the store is away: each process then counts on its own. */
  readonly reachable: boolean
  /**
   * Counts one request in every window, or in none where one is full. `known` is what this process
   * knows of them: the store counts on from there when it knows less. Undefined when the store did
   * not answer in time.
   */
  take(
    windows: readonly Window[],
    known: Pick<Standing, 'used' | 'endsAtMs' | 'atMs'>,
  ): Promise<{ admitted: boolean; used: number[] } | undefined>
}

/** Told of every request that was counted for a workspace. */
export type OnAdmitted = (principal: Principal, route: string, nowMs: number) => void

export interface LimiterOptions {
  clock: Clock
  shared?: SharedCounters | undefined
  onAdmitted?: OnAdmitted
  requestsPerAddress?: number | undefined
}

// A counter takes about 150 bytes, so this is 30 MB at most, and more addresses than come in any honest minute.
const mostAddresses = 200_000

/**
 * Admits requests or refuses them. A request must fit every window of its budget, and is counted in
 * all of them or in none. Without a shared store the answer is there at once, without a promise.
 */
export class Limiter {
  readonly #clock: Clock
  readonly #shared: SharedCounters | undefined
  readonly #onAdmitted: OnAdmitted | undefined
  readonly #perAddress: number
  readonly #workspaces = new Counters()
  readonly #addresses = new Counters(mostAddresses)

  constructor({ clock, shared, onAdmitted, requestsPerAddress }: LimiterOptions) {
    this.#clock = clock
    this.#shared = shared
    this.#onAdmitted = onAdmitted
    this.#perAddress = requestsPerAddress ?? addressWindow.limit
  }

  /** A request with a valid credential. `route` is what the usage record shows it as. */
  takeFor(
    principal: Principal,
    endpoint: EndpointWindow | undefined,
    route: string,
  ): Standing | Promise<Standing> {
    const nowMs = this.#clock.now().getTime()
    const standing = this.#take(this.#workspaces, workspaceBudget(principal.workspace, endpoint), nowMs)
    if (!(standing instanceof Promise)) return this.#told(standing, principal, route)
    return standing.then((later) => this.#told(later, principal, route))
  }

  /** A request without one. */
  takeFrom(ip: string): Standing | Promise<Standing> {
    const nowMs = this.#clock.now().getTime()
    return this.#take(this.#addresses, addressBudget(ip, this.#perAddress), nowMs)
  }

  /** Where an address stands, without counting. */
  look(ip: string): Standing {
    const nowMs = this.#clock.now().getTime()
    const budget = addressBudget(ip, this.#perAddress)
    return standingOf(budget, countersOf(this.#addresses, budget, nowMs), nowMs, true)
  }

  /** What is known from elsewhere of a workspace's day: counts never fall within a day. */
  learnDay(workspaceId: string, used: number, nowMs = this.#clock.now().getTime()): void {
    const window = {
      name: 'day',
      key: windowKey(workspaceId, 'day'),
      limit: Infinity,
      lengthMs: planWindowMs.day,
    }
    const counter = this.#workspaces.at(window, nowMs)
    counter.used = Math.max(counter.used, used)
  }

  #take(counters: Counters, budget: Budget, nowMs: number): Standing | Promise<Standing> {
    const known = countersOf(counters, budget, nowMs)
    // What this process knows is never more than what the store has: full here is full there.
    if (this.#shared?.reachable && !isFull(budget, known))
      return this.#takeShared(this.#shared, counters, budget, known, nowMs)
    return takeAlone(budget, known, nowMs)
  }

  async #takeShared(
    shared: SharedCounters,
    counters: Counters,
    budget: Budget,
    known: Counter[],
    nowMs: number,
  ): Promise<Standing> {
    const before = standingOf(budget, known, nowMs, true)
    const taken = await shared.take(budget.windows, before)
    if (!taken) {
      const laterMs = this.#clock.now().getTime()
      return takeAlone(budget, countersOf(counters, budget, laterMs), laterMs)
    }
    for (let place = 0; place < known.length; place++) {
      const counter = known[place]!
      // It may have gone on to its next window meanwhile, and what came back belongs to the last one.
      if (counter.endsAtMs === before.endsAtMs[place])
        counter.used = Math.max(counter.used, taken.used[place]!)
    }
    return { ...before, used: taken.used, admitted: taken.admitted }
  }

  #told(standing: Standing, principal: Principal, route: string): Standing {
    if (standing.admitted) this.#onAdmitted?.(principal, route, standing.atMs)
    return standing
  }
}

function countersOf(counters: Counters, { windows }: Budget, nowMs: number): Counter[] {
  const known: Counter[] = []
  for (const window of windows) known.push(counters.at(window, nowMs))
  return known
}

function isFull({ windows }: Budget, known: Counter[]): boolean {
  for (let place = 0; place < known.length; place++)
    if (known[place]!.used >= windows[place]!.limit) return true
  return false
}

function takeAlone(budget: Budget, known: Counter[], nowMs: number): Standing {
  const admitted = !isFull(budget, known)
  if (admitted) for (const counter of known) counter.used++
  return standingOf(budget, known, nowMs, admitted)
}

function standingOf(budget: Budget, known: Counter[], atMs: number, admitted: boolean): Standing {
  const used: number[] = []
  const endsAtMs: number[] = []
  for (const counter of known) {
    used.push(counter.used)
    endsAtMs.push(counter.endsAtMs)
  }
  return { budget, atMs, used, endsAtMs, admitted }
}
