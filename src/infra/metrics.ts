import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Pool } from '../kernel/sql.ts'

export interface Metrics {
  registry: Registry
  watch(app: FastifyInstance, environment: string): void
}

/** What an operator graphs: requests by route and status with latency, the pool, and the process itself. */
export function createMetrics(sql: Pool, poolSize: number): Metrics {
  const registry = new Registry()
  // Brings event loop lag, heap, handles and garbage collection.
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'plotbase_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['environment', 'method', 'route', 'status'],
    registers: [registry],
  })
  const seconds = new Histogram({
    name: 'plotbase_http_request_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['environment', 'method', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  })
  watchPool(registry, sql, poolSize)

  return {
    registry,
    watch(app, environment) {
      app.addHook('onResponse', (request, reply, done) => {
        const { method } = request
        const route = request.routeOptions.url ?? 'unknown'
        requests.inc({ environment, method, route, status: reply.statusCode })
        seconds.observe({ environment, method, route }, reply.elapsedTime / 1_000)
        done()
      })
    },
  }
}

// When the pool is at its end, the other figures are needed most.
const patienceMs = 1_000
const noneAfter = (ms: number) =>
  new Promise<never[]>((resolve) => void setTimeout(() => resolve([]), ms).unref())

const connectionStates = (sql: Pool): Promise<{ state: string; number: number }[]> =>
  sql<{ state: string; number: number }[]>`
    select coalesce(state, 'unknown') as state, count(*)::int as number from pg_stat_activity
    where application_name = ${sql.options.connection.application_name ?? ''} and datname = current_database()
    group by 1`.catch(() => [])

function watchPool(registry: Registry, sql: Pool, poolSize: number): void {
  const connections = new Gauge({
    name: 'plotbase_database_connections',
    help: 'Connections of this process to PostgreSQL, as the server counts them.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset()
      const rows = await Promise.race([connectionStates(sql), noneAfter(patienceMs)])
      for (const row of rows) this.set({ state: row.state }, row.number)
    },
  })
  void connections
  new Gauge({
    name: 'plotbase_database_pool_size',
    help: 'Most connections this process opens.',
    registers: [registry],
  }).set(poolSize)
}
