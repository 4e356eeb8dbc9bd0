import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import { createCourier } from '../src/delivery/courier.ts'
import { membershipFinder } from '../src/features/accounts/people.ts'
import { apiKeyCredentials } from '../src/features/api-keys/credential.ts'
import { insertKey } from '../src/features/api-keys/queries.ts'
import { newKeyToken } from '../src/features/api-keys/token.ts'
import { endpoints } from '../src/features/index.ts'
import { UsageRecorder } from '../src/features/usage/recorder.ts'
import { insertWorkspacePair } from '../src/features/workspaces/queries.ts'
import { connect } from '../src/infra/db.ts'
import { startEmbeddedPostgres } from '../src/infra/embedded-postgres.ts'
import { migrate } from '../src/infra/migrate.ts'
import { RedisCounters } from '../src/infra/redis-counters.ts'
import { createSecrets } from '../src/infra/secrets.ts'
import { systemClock as clock } from '../src/kernel/clock.ts'
import { Credentials } from '../src/kernel/credentials.ts'
import { createServer } from '../src/kernel/http.ts'
import { admitWithin, limitRequests } from '../src/kernel/limits/admit.ts'
import { Limiter } from '../src/kernel/limits/limiter.ts'
import { mount } from '../src/kernel/pipeline.ts'
import type { Pool } from '../src/kernel/sql.ts'
import { Totals } from '../src/kernel/totals.ts'
import { isRedisInstalled, TestRedis } from '../test/redis.ts'

/*
 * What the limiter costs a get: the same server without it, with it in memory, and with Redis. The
 * variants take turns in short rounds, asked by another process, and the figure is processor time of
 * this thread for each request, so that most of what else the machine does falls out.
 */

const rounds = 41
const warmUpRounds = 8
const requestsPerRound = 400
const generous = { burst: 1_000_000, minute: 100_000_000, day: 1_000_000_000 }

interface Variant {
  name: string
  server: FastifyInstance
  microseconds: number[]
}

async function measure(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'plotbase-bench-limits-'))
  const postgres = await startEmbeddedPostgres({ dataDir })
  const sql = connect({ socket: postgres.connection })
  const redis = isRedisInstalled ? await TestRedis.start() : undefined
  const shared = redis && new RedisCounters(redis.url, pino({ level: 'silent' }))
  await shared?.start()
  try {
    await migrate(sql)
    const { key, path } = await aProperty(sql)
    const variants = [variant('without', sql), variant('in memory', sql, {})]
    if (shared) variants.push(variant('with Redis', sql, { shared }))
    for (const { server } of variants) await server.listen({ port: 0, host: '127.0.0.1' })
    const load = fork(new URL('limits-load.ts', import.meta.url))
    for (let round = -warmUpRounds; round < rounds; round++)
      for (const each of inTurn(variants, round)) await runRound(load, each, key, path, round < 0)
    load.disconnect()
    report(variants)
    for (const { server } of variants) await server.close()
  } finally {
    shared?.close()
    await redis?.kill()
    await sql.end()
    await postgres.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

function variant(name: string, sql: Pool, limits?: { shared?: RedisCounters }): Variant {
  const log = pino({ level: 'silent' })
  const credentials = new Credentials([apiKeyCredentials(sql, new Set())], membershipFinder(sql), clock)
  const here = 'http://127.0.0.1'
  const urls = { production: here, sandbox: here, auth: here }
  const entrance = { credentials, environment: 'production' as const, urls }
  const usage = new UsageRecorder({ sql, clock, log, onDayKnown: () => {} })
  const limiter = new Limiter({ clock, onAdmitted: usage.count, ...limits })
  const server = createServer({ log, bodyLimitBytes: 1_048_576, trustedProxies: [], headersFor: () => ({}) })
  const admit = limits ? admitWithin(limiter) : () => {}
  if (limits) limitRequests(server, limiter, entrance)
  const secrets = createSecrets(['a key for measurements, long enough'])
  const courier = createCourier({ clock, timeoutMs: 1_000, allowedNetworks: [] })
  mount(server, endpoints, {
    entrance,
    admit,
    sql,
    clock,
    log,
    secrets,
    courier,
    totals: new Totals(() => {}),
    uploadLimitBytes: 1_048_576,
  })
  return { name, server, microseconds: [] }
}

async function aProperty(sql: Pool): Promise<{ key: string; path: string }> {
  const now = clock.now()
  const place = { name: 'Bench', plan: 'enterprise' as const, currency: 'USD', customLimits: generous }
  const { production } = await insertWorkspacePair(sql, place, now)
  const key = newKeyToken('production')
  await insertKey(
    sql,
    { workspaceId: production.id, name: 'b', scopes: ['admin'], token: key, createdBy: null },
    now,
  )
  const { server } = variant('setup', sql)
  const created = await server.inject({
    method: 'POST',
    url: '/v1/properties',
    headers: { authorization: `Bearer ${key}` },
    payload: { name: 'Marina Heights', type: 'apartment', location: { city: 'Dubai', country: 'AE' } },
  })
  return { key, path: created.headers.location as string }
}

/** Every second round the other way round: whoever comes first pays for what the one before left behind. */
const inTurn = <T>(variants: T[], round: number): T[] => (round % 2 === 0 ? variants : variants.toReversed())

async function runRound(
  load: ChildProcess,
  each: Variant,
  key: string,
  path: string,
  warmUp: boolean,
): Promise<void> {
  const { port } = each.server.server.address() as { port: number }
  const before = process.threadCpuUsage()
  load.send({ url: `http://127.0.0.1:${port}${path}`, key, amount: requestsPerRound })
  const [{ answered }] = (await once(load, 'message')) as [{ answered: number }]
  const { user, system } = process.threadCpuUsage(before)
  if (answered !== requestsPerRound) throw new Error(`only ${answered} were answered 200`)
  if (!warmUp) each.microseconds.push((user + system) / requestsPerRound)
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

function report(variants: Variant[]): void {
  const base = median(variants[0]!.microseconds)
  console.log(`\nA get, and what the limiter adds to it (medians of ${rounds} rounds in turn):\n`)
  for (const { name, microseconds } of variants) {
    const cost = median(microseconds)
    // Each round beside its neighbours: what drifts with the machine falls out.
    const added = median(microseconds.map((value, round) => value - variants[0]!.microseconds[round]!))
    const share =
      name === 'without' ? '' : `  +${added.toFixed(1)} µs  ${((100 * added) / base).toFixed(1)} %`
    console.log(`  ${name.padEnd(12)}${cost.toFixed(1).padStart(7)} µs${share}`)
  }
}

await measure()
