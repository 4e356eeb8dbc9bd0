import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import pino from 'pino'
import { type App, type AppDeps, buildApp } from '../src/app.ts'
import { createCourier } from '../src/delivery/courier.ts'
import { insertKey } from '../src/features/api-keys/queries.ts'
import { newKeyToken } from '../src/features/api-keys/token.ts'
import { insertWorkspacePair } from '../src/features/workspaces/queries.ts'
import { connect } from '../src/infra/db.ts'
import { startEmbeddedPostgres } from '../src/infra/embedded-postgres.ts'
import { migrate } from '../src/infra/migrate.ts'
import { RedisCounters } from '../src/infra/redis-counters.ts'
import { createSecrets } from '../src/infra/secrets.ts'
import { systemClock as clock } from '../src/kernel/clock.ts'
import type { Pool } from '../src/kernel/sql.ts'
import { isRedisInstalled, TestRedis } from '../test/redis.ts'
import { fill } from './data.ts'
import { connections, type LoadOrder, type LoadResult } from './load.ts'
import { newDataDir, removeDataDir } from './process.ts'
import { busyNote, median, printTable, progress, type Table } from './report.ts'

/*
 * What the limiter costs a get: the same app without it, with it in memory, and with Redis. All of
 * them run in this process and take turns in short rounds; the figure is the processor time of this
 * thread for each request, since a few microseconds drown in anything else. The app without the
 * limiter is there twice, before and after the others: their mean is what the others are compared
 * with, and their difference is what this measurement can't tell apart.
 */

const rounds = 41
const warmUpRounds = 8
const roundMs = 400
const goalPercent = 3

interface Measured {
  name: string
  app: App
  microseconds: number[]
  goal?: number
}

export async function measureLimits(): Promise<Table> {
  const dataDir = await newDataDir()
  const postgres = await startEmbeddedPostgres({ dataDir })
  const sql = connect({ socket: postgres.connection })
  const redis = isRedisInstalled ? await TestRedis.start() : undefined
  const shared = redis && new RedisCounters(redis.url, silent)
  await shared?.start()
  try {
    await migrate(sql)
    const target = await prepare(sql)
    const apps: Measured[] = [
      { name: 'without', app: await appOf(sql, { admit: () => {} }), microseconds: [] },
      { name: 'in memory', app: await appOf(sql), microseconds: [], goal: goalPercent },
    ]
    if (shared)
      apps.push({ name: 'with Redis', app: await appOf(sql, { sharedCounters: shared }), microseconds: [] })
    apps.push({ name: 'without, again', app: await appOf(sql, { admit: () => {} }), microseconds: [] })
    await measure(apps, target)
    for (const { app } of apps) await app.close()
    return tableOf(apps)
  } finally {
    progress('')
    shared?.close()
    await redis?.kill()
    await sql.end()
    await postgres.stop()
    await removeDataDir(dataDir)
  }
}

const silent = pino({ level: 'silent' })

function appOf(sql: Pool, deps: Partial<AppDeps> = {}): Promise<App> {
  const here = 'http://127.0.0.1'
  return buildApp({
    sql,
    clock,
    log: silent,
    secrets: createSecrets(['a key for measurements, long enough']),
    courier: createCourier({ clock, timeoutMs: 1_000, allowedNetworks: [] }),
    urls: { production: here, sandbox: here },
    authUrl: here,
    bodyLimitBytes: 1_048_576,
    importLimitBytes: 1_048_576,
    ...deps,
  })
}

interface Target {
  path: string
  key: string
}

async function prepare(sql: Pool): Promise<Target> {
  await insertWorkspacePair(sql, { name: 'Bench', plan: 'enterprise', currency: 'EUR' }, clock.now())
  const { workspaceId, propertyIds } = await fill(sql)
  const token = newKeyToken('production')
  const key = { workspaceId, name: 'bench', scopes: ['admin'] as const, token, createdBy: null }
  await insertKey(sql, key, clock.now())
  return { path: `/v1/properties/${propertyIds[0]}`, key: token }
}

async function measure(apps: Measured[], target: Target): Promise<void> {
  for (const { app } of apps) await app.servers.production.listen({ port: 0, host: '127.0.0.1' })
  const load = fork(join(import.meta.dirname, 'load-process.ts'))
  for (let round = -warmUpRounds; round < rounds; round++) {
    progress(`limits: round ${round + 1} of ${rounds}`)
    // Every second round the other way round: whoever comes first pays for what the one before left behind.
    for (const each of round % 2 === 0 ? apps : apps.toReversed()) {
      const used = await runRound(load, each.app, target)
      if (round >= 0) each.microseconds.push(used)
    }
  }
  load.disconnect()
}

async function runRound(load: ChildProcess, app: App, { path, key }: Target): Promise<number> {
  const { port } = app.servers.production.server.address() as { port: number }
  const before = process.threadCpuUsage()
  const order: LoadOrder = {
    origin: `http://127.0.0.1:${port}`,
    headers: { authorization: `Bearer ${key}` },
    requests: Array(connections).fill([{ method: 'GET', path }]),
    milliseconds: roundMs,
  }
  load.send(order)
  const [{ requests, refused }] = (await once(load, 'message')) as [LoadResult]
  const { user, system } = process.threadCpuUsage(before)
  if (Object.keys(refused).length > 0) throw new Error(`some were refused: ${JSON.stringify(refused)}`)
  return (user + system) / requests
}

function tableOf(apps: Measured[]): Table {
  const [before, after] = [apps[0]!.microseconds, apps.at(-1)!.microseconds]
  const without = before.map((value, round) => (value + after[round]!) / 2)
  return {
    title: 'Limits: what counting a request adds to a get',
    columns: ['', 'CPU µs', 'added', 'of the get', 'goal'],
    rows: apps.map(({ name, microseconds, goal }) => {
      // Each round beside its neighbours, so that what drifts with the machine falls out.
      const added = median(microseconds.map((value, round) => value - without[round]!))
      const percent = (100 * added) / median(without)
      return {
        cells: [
          name,
          median(microseconds).toFixed(1),
          `${added.toFixed(1)} µs`,
          `${percent.toFixed(1)} %`,
          goal ? `< ${goal} %` : '',
        ],
        ...(goal && { met: percent < goal }),
      }
    }),
  }
}

if (import.meta.main) {
  const busy = busyNote()
  printTable(await measureLimits())
  if (busy) process.stdout.write(`\n${busy}\n`)
}
