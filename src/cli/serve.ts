import type { FastifyInstance } from 'fastify'
import { type App, buildApp } from '../app.ts'
import type { Config } from '../config.ts'
import { createCourier } from '../delivery/courier.ts'
import { bootstrap, type FirstStart } from '../features/first-start/bootstrap.ts'
import { createLog } from '../infra/log.ts'
import { createMailer } from '../infra/mailer.ts'
import { migrate } from '../infra/migrate.ts'
import { type OpenDatabase, openDatabase } from '../infra/open-database.ts'
import { createSecrets, secretKeys } from '../infra/secrets.ts'
import { systemClock } from '../kernel/clock.ts'
import { environments } from '../kernel/context.ts'
import { StartError } from '../kernel/start-error.ts'
import { startWorker, type Worker } from '../worker.ts'
import { buildWorkerServer } from '../worker-server.ts'
import { banner } from './banner.ts'
import { stopOnSignal } from './lifecycle.ts'

/** Which parts of the product this process runs. */
export interface Parts {
  api: boolean
  worker: boolean
}

/** Brings up the parts in their order and leaves them running until a signal. */
export async function run(config: Config, parts: Parts): Promise<void> {
  const log = createLog(config.logLevel)
  const clock = systemClock
  const steps: (() => Promise<unknown>)[] = []
  const undo = async () => {
    for (const step of steps.reverse()) await step()
  }
  try {
    const database: OpenDatabase = await openDatabase({
      databaseUrl: config.databaseUrl,
      dataDir: config.dataDir,
      pool: config.databasePool,
      log: (line) => log.debug({ postgres: line }),
    })
    steps.push(() => database.close())
    const { sql } = database
    const applied = await migrate(sql)
    if (applied.length > 0) log.info({ applied }, 'database migrated')
    const first = await bootstrap(sql, clock, {
      ...config.bootstrap,
      wanted: config.local || Object.values(config.bootstrap).some((value) => value !== undefined),
      demoData: config.demoData,
    })

    const secrets = createSecrets(await secretKeys(config))
    const courier = createCourier({ clock, ...config.webhooks })
    steps.push(() => courier.close())
    let worker: Worker | undefined
    if (parts.worker) {
      worker = startWorker({
        sql,
        clock,
        log,
        secrets,
        courier,
        limits: config.webhooks,
        urls: { ...config.urls, auth: config.authUrl },
        demoData: config.demoData,
        mailer: await createMailer(config.mail),
      })
      steps.push(() => worker!.stop())
    }
    if (worker && !parts.api) {
      const server = buildWorkerServer({ sql, log, worker })
      steps.push(() => server.close())
      await listenOn(server, config.host, config.workerPort, 'WORKER_PORT')
    }
    if (parts.api) {
      const { urls, authUrl, bodyLimitBytes, importLimitBytes, trustedProxies, overload } = config
      const sharedCounters = config.redisUrl ? await countersIn(config.redisUrl, log) : undefined
      if (sharedCounters) {
        steps.push(async () => sharedCounters.close())
        await sharedCounters.start()
      }
      const app = await buildApp({
        sql,
        clock,
        log,
        secrets,
        courier,
        urls,
        authUrl,
        bodyLimitBytes,
        importLimitBytes,
        trustedProxies,
        overload,
        ...(sharedCounters && { sharedCounters }),
        ...(worker && { worker }),
      })
      steps.push(() => app.close())
      await listen(app, config)
    }
    announce(config, parts, first, log)
    const stop = stopOnSignal(log, undo)
    database.onLost((detail) => stop(`the embedded PostgreSQL has ended (${detail})`))
  } catch (error) {
    await undo()
    throw error
  }
}

/** Its client is loaded only where it is used, which saves memory everywhere else. */
async function countersIn(redisUrl: string, log: ReturnType<typeof createLog>) {
  const { RedisCounters } = await import('../infra/redis-counters.ts')
  return new RedisCounters(redisUrl, log)
}

async function listen(app: App, config: Config): Promise<void> {
  const variables = { production: 'PORT', sandbox: 'SANDBOX_PORT' } as const
  for (const environment of environments) {
    await listenOn(app.servers[environment], config.host, config.ports[environment], variables[environment])
  }
}

async function listenOn(
  server: FastifyInstance,
  host: string,
  port: number,
  variable: string,
): Promise<void> {
  try {
    await server.listen({ host, port, listenTextResolver: (address) => `listening on ${address}` })
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'EADDRINUSE') {
      throw new StartError(
        `Port ${port} is already in use; stop the program that has it, or set ${variable} to another port.`,
      )
    }
    if (code === 'EACCES')
      throw new StartError(
        `Port ${port} may not be opened by this user; set ${variable} to a port above 1023.`,
      )
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new StartError(`HOST names an address that this machine does not have; use 127.0.0.1 or 0.0.0.0.`)
    }
    throw error
  }
}

/** For people in local mode; elsewhere a log line, so that logs stay JSON. */
function announce(
  config: Config,
  parts: Parts,
  first: FirstStart | undefined,
  log: ReturnType<typeof createLog>,
): void {
  const seconds = Math.round(performance.now() / 100) / 10
  const summary = { ...parts, production: config.urls.production, sandbox: config.urls.sandbox, seconds }
  if (!config.local) log.info(summary, 'started')
  else if (parts.api) process.stdout.write(banner(config, first, seconds))
}
