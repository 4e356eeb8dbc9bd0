import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import { serveHealth } from './features/health/routes.ts'
import { createMetrics } from './infra/metrics.ts'
import { createServer } from './kernel/http.ts'
import type { Pool } from './kernel/sql.ts'
import { version } from './version.ts'
import type { Worker } from './worker.ts'

/** Health and metrics of a process that runs the worker alone. */
export function buildWorkerServer(deps: { sql: Pool; log: Logger; worker: Worker }): FastifyInstance {
  const { sql, log, worker } = deps
  const app = createServer({ log, bodyLimitBytes: 1_024, trustedProxies: [], headersFor: () => ({}) })
  const metrics = createMetrics(sql, sql.options.max)
  const registry = Registry.merge([metrics.registry, worker.registry])
  serveHealth(app, { sql, registry, worker, version, sharedCounters: undefined })
  return app
}
