import type { FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import { pendingMigrations } from '../../infra/migrate.ts'
import type { Pool } from '../../kernel/sql.ts'

/** What the worker of this process says of itself; undefined where it has none. */
export interface WorkerHealth {
  isMoving(): boolean
}

interface HealthDeps {
  sql: Pool
  registry: Registry
  worker?: WorkerHealth
  version: string
  /** Undefined where this process shares its limits with no other. */
  sharedCounters?: { reachable: boolean } | undefined
}

interface Check {
  ok: boolean
  message?: string
}

// A probe that hangs is worse than one that fails: orchestrators wait a second or so.
const checkTimeoutMs = 2_000

/** Live, ready and measured: for orchestrators, load balancers and Prometheus, without a credential. */
export function serveHealth(
  app: FastifyInstance,
  { sql, registry, worker, version, sharedCounters }: HealthDeps,
): void {
  const quiet = { logLevel: 'warn' } as const
  app.get('/healthz', quiet, async () => ({ status: 'ok', version, limits: limitsNote(sharedCounters) }))
  app.get('/readyz', quiet, async (_request, reply) => {
    const [database, migrations] = await Promise.all([
      check(() => sql`select 1`),
      check(() => noPendingMigrations(sql)),
    ])
    const checks: Record<string, Check> = {
      database,
      migrations,
      worker: worker ? workerCheck(worker) : { ok: true, message: 'runs in another process' },
    }
    const ready = Object.values(checks).every(({ ok }) => ok)
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready', checks })
  })
  app.get('/metrics', quiet, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  )
}

// Not a failure: requests are served, but the processes together may admit more than a plan allows.
function limitsNote(shared: HealthDeps['sharedCounters']): string {
  if (!shared) return 'counted in this process'
  return shared.reachable ? 'shared through Redis' : 'Redis is away: counted in this process until it is back'
}

const workerCheck = (worker: WorkerHealth): Check =>
  worker.isMoving() ? { ok: true } : { ok: false, message: 'the background loops have stopped moving' }

async function noPendingMigrations(sql: Pool): Promise<void> {
  const pending = await pendingMigrations(sql)
  if (pending.length > 0) throw new Error(`${pending.length} migrations are pending; run plotbase migrate`)
}

async function check(probe: () => PromiseLike<unknown>): Promise<Check> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), checkTimeoutMs)
  try {
    await Promise.race([probe(), late.promise])
    return { ok: true }
  } catch (error) {
    // A connection error names hosts and users; an operator finds those in the log.
    const { code, message } = error as Error & { code?: string }
    return { ok: false, message: code ? `cannot be reached (${code})` : message }
  } finally {
    clearTimeout(timer)
  }
}
