import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { cpuSeconds, type Target } from './process.ts'
import { median } from './report.ts'

export interface LoadRequest {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body?: string
}

/** What the load process is told: each connection walks through its own requests, over and over. */
export interface LoadOrder {
  origin: string
  headers: Record<string, string>
  requests: LoadRequest[][]
  milliseconds: number
}

export interface LoadResult {
  requests: number
  seconds: number
  /** Answers other than 2xx, by status; failed connections count as 0. */
  refused: Record<string, number>
}

export interface Measured {
  /** Requests a second, one figure per round. */
  perSecond: number[]
  /** Processor time of the server for one request, in microseconds, median of the rounds. */
  cpuMicroseconds: number
}

// Few enough that no one waits long, many enough that neither server nor database idles.
export const connections = 32
const rounds = 6
const roundMs = 500
const warmUpMs = 400

/** The load comes from a process of its own, so that it takes nothing from the servers but the processor. */
export function startLoad(): { run(order: LoadOrder): Promise<LoadResult>; stop(): void } {
  const child: ChildProcess = fork(join(import.meta.dirname, 'load-process.ts'))
  return {
    run: async (order) => {
      child.send(order)
      const [result] = (await once(child, 'message')) as [LoadResult]
      if (Object.keys(result.refused).length > 0)
        throw new Error(`${order.origin} refused requests: ${JSON.stringify(result.refused)}`)
      return result
    },
    stop: () => child.kill(),
  }
}

type Load = ReturnType<typeof startLoad>

/** Lets a server reach its full speed: V8 compiles what has run often, over the first seconds. */
export async function warmUp(
  load: Load,
  targets: Target[],
  headers: Record<string, string>,
  requests: LoadRequest[][],
): Promise<void> {
  for (const target of targets) await runOnce(load, target, { headers, requests }, warmUpMs)
}

/**
 * Puts the same load on each target in turn, round after round. Whatever else the machine does then
 * falls on all of them alike, and the ratio of two targets within one round means something.
 */
export async function interleaved<K extends string>(
  load: Load,
  targets: Record<K, Target>,
  headers: Record<string, string>,
  requestsOf: (run: number) => LoadRequest[][],
): Promise<Record<K, Measured>> {
  let run = 0
  const next = () => ({ headers, requests: requestsOf(run++) })
  const names = Object.keys(targets) as K[]
  const runs = Object.fromEntries(names.map((name) => [name, [] as Run[]])) as Record<K, Run[]>
  await warmUp(load, Object.values(targets), headers, requestsOf(run++))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) runs[name].push(await runOnce(load, targets[name], next(), roundMs))
  }
  const measured = names.map((name) => [
    name,
    {
      perSecond: runs[name].map((run) => run.perSecond),
      cpuMicroseconds: median(runs[name].map((run) => run.cpuMicroseconds)),
    },
  ])
  return Object.fromEntries(measured) as Record<K, Measured>
}

type Run = { perSecond: number; cpuMicroseconds: number }

async function runOnce(
  load: Load,
  target: Target,
  order: Pick<LoadOrder, 'headers' | 'requests'>,
  milliseconds: number,
): Promise<Run> {
  const before = cpuSeconds(target.pid)
  const { requests, seconds } = await load.run({ ...order, origin: target.origin, milliseconds })
  const cpu = cpuSeconds(target.pid) - before
  return { perSecond: requests / seconds, cpuMicroseconds: (cpu / requests) * 1e6 }
}

/** How much of `base` a target does: the median of the ratios of each round. */
export const ratio = (target: Measured, base: Measured): number => median(ratios(target, base))

/** The middle half of those ratios: wide where other work on the machine got in between. */
export function spread(target: Measured, base: Measured): string {
  const sorted = ratios(target, base).toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.round((sorted.length - 1) * part)]!.toFixed(2)
  return `${at(0.25)} to ${at(0.75)}`
}

const ratios = (target: Measured, base: Measured) =>
  target.perSecond.map((perSecond, round) => perSecond / base.perSecond[round]!)
