import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import type { Pool } from '../../src/kernel/sql.ts'
import type { Harness } from '../harness.ts'
import {
  databaseUrl,
  freePort,
  freePorts,
  type Ports,
  plotbase,
  portVariables,
  type RunningProcess,
  untilReady,
} from '../process.ts'

/*
 * The product as several real processes on one database, for tests that kill them.
 *
 * A normal run keeps each test to seconds. CRASH_ROUNDS multiplies kills, restarts and load for a
 * soak, with the time limits growing along: CRASH_ROUNDS=25 npx vitest run test/crash
 */
export const rounds = Number(process.env.CRASH_ROUNDS ?? 1)

// On a machine that is busy with other things, five processes that start at once take their time.
export const startMs = 90_000

export class Cluster {
  readonly #harness: Harness
  readonly #env: Record<string, string>
  readonly #running = new Set<RunningProcess>()
  #folder = ''
  ports!: Ports
  kills = 0

  constructor(harness: Harness, env: Record<string, string> = {}) {
    this.#harness = harness
    this.#env = env
  }

  async open(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'plotbase-crash-'))
    this.ports = await freePorts()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((running) => this.end(running, 'SIGKILL')))
    await rm(this.#folder, { recursive: true, force: true })
  }

  get env(): Record<string, string> {
    return {
      DATABASE_URL: databaseUrl(this.#harness.address),
      DATA_DIR: this.#folder,
      HOST: '127.0.0.1',
      SECRET_KEY: 'a key for the processes of crash tests',
      LOG_LEVEL: 'warn',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      WEBHOOK_TIMEOUT: '500ms',
      WEBHOOK_RETRY_DELAYS: '300ms,300ms,300ms,300ms',
      ...this.#env,
    }
  }

  async serve(): Promise<RunningProcess> {
    const running = this.#track(plotbase(['serve'], { ...this.env, ...portVariables(this.ports) }))
    await untilReady(running, this.ports.production, startMs)
    return running
  }

  async work(env: Record<string, string> = {}): Promise<RunningProcess & { port: number }> {
    const port = await freePort()
    const running = this.#track(plotbase(['work'], { ...this.env, WORKER_PORT: String(port), ...env }))
    await untilReady(running, port, startMs)
    return { ...running, port }
  }

  async kill(running: RunningProcess): Promise<void> {
    this.kills++
    await this.end(running, 'SIGKILL')
  }

  async end(running: RunningProcess, signal: NodeJS.Signals): Promise<void> {
    for (const known of this.#running) if (known.child === running.child) this.#running.delete(known)
    running.child.kill(signal)
    await running.exited
  }

  /** Calls the API as the harness' admin; undefined when nobody answered. */
  async call(method: string, path: string, body?: object): Promise<Answer | undefined> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.ports.production}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#harness.tenant.adminKey}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, data: text === '' ? undefined : JSON.parse(text).data }
    } catch {
      return undefined
    }
  }

  /** A busy machine makes the API turn requests away for a moment. */
  async subscribe(url: string, events = ['*']): Promise<string> {
    let answer: Answer | undefined
    const accepted = async () => {
      answer = await this.call('POST', '/v1/webhooks', { url, events })
      return answer?.status === 201
    }
    await until(`a webhook to ${url}`, accepted, 30_000)
    return answer!.data.id
  }

  #track(running: RunningProcess): RunningProcess {
    this.#running.add(running)
    return running
  }
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  data: any
}

/** Writes events as the API would have, without its limits. Returns their ids. */
export async function insertEvents(
  { sql, tenant }: { sql: Pool; tenant: Harness['tenant'] },
  number: number,
  data: object = {},
): Promise<string[]> {
  const now = new Date()
  const ids = Array.from({ length: number }, () => newId('evt', now))
  await sql`
    insert into events (workspace_id, id, event, resource_id, data, created_at)
    select ${tenant.production.id}, id, 'unit.created', 'unit_1', ${JSON.stringify(data)}::text::json, ${now}
    from unnest(${ids}::text[]) as e (id)`
  return ids
}

/** Waits until something holds, and says what did not. */
export async function until(what: string, holds: () => unknown, withinMs: number): Promise<number> {
  const startedAt = performance.now()
  while (!(await holds())) {
    if (performance.now() - startedAt > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`)
    await sleep(50)
  }
  return performance.now() - startedAt
}

/** Until every committed event was fanned out and nothing waits. */
export const untilDelivered = (sql: Pool, withinMs: number) =>
  until(
    'all deliveries made',
    async () => {
      const [left] = await sql`
        select (select count(*)::int from events where sequence is null)
          + (select count(*)::int from deliveries where due_at is not null) as number`.catch(() => [
        { number: -1 },
      ])
      return left!.number === 0
    },
    withinMs,
  )

export const percentile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!

export const randomBetween = (least: number, most: number) => least + Math.random() * (most - least)
