import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import { announcer } from './delivery/wake.ts'
import { LastUsed } from './features/accounts/last-used.ts'
import { membershipFinder } from './features/accounts/people.ts'
import { apiKeyCredentials } from './features/api-keys/credential.ts'
import { bootstrapKeyHashes } from './features/api-keys/queries.ts'
import { serveHealth, type WorkerHealth } from './features/health/routes.ts'
import { chapters, endpoints } from './features/index.ts'
import { serveDocs } from './features/reference/docs.ts'
import { sessionCredentials } from './features/sessions/queries.ts'
import { UsageRecorder } from './features/usage/recorder.ts'
import { listen } from './infra/listen.ts'
import { createMetrics } from './infra/metrics.ts'
import type { Entrance } from './kernel/authenticate.ts'
import type { Clock } from './kernel/clock.ts'
import { type Environment, environments, type Secrets } from './kernel/context.ts'
import type { Courier } from './kernel/courier.ts'
import { Credentials } from './kernel/credentials.ts'
import { createServer, finishAndClose, refuseOtherMethods } from './kernel/http.ts'
import { type Admit, admitWithin, limitRequests } from './kernel/limits/admit.ts'
import { Limiter, type SharedCounters } from './kernel/limits/limiter.ts'
import { Overload, type OverloadThresholds, shedLoad } from './kernel/limits/overload.ts'
import { limitHeaders } from './kernel/limits/standing.ts'
import { openApiDocument } from './kernel/openapi.ts'
import { mount } from './kernel/pipeline.ts'
import type { Pool } from './kernel/sql.ts'
import { Totals } from './kernel/totals.ts'
import { oauthCredentials } from './oauth/credential.ts'
import { serveOAuth } from './oauth/routes.ts'
import { version } from './version.ts'

export interface AppDeps {
  sql: Pool
  clock: Clock
  log: Logger
  secrets: Secrets
  courier: Courier
  urls: Record<Environment, string>
  /** Where people sign in and applications get their tokens. */
  authUrl: string
  bodyLimitBytes: number
  importLimitBytes: number
  /** The worker of the same process, where it has one. */
  worker?: WorkerHealth & { wake(): void; registry: Registry }
  /** Where several processes share their counts; each counts on its own without it. */
  sharedCounters?: SharedCounters
  /** When to refuse requests early; never unless given. */
  overload?: OverloadThresholds
  /** Whose word on a caller's address is taken: addresses and networks of proxies in front. */
  trustedProxies?: string[]
  /** Takes the place of the limiter, to measure what that costs. */
  admit?: Admit
  /** How much callers without a credential may ask in a minute; as decided for all unless given. */
  requestsPerAddress?: number
}

export interface App {
  /** One server per environment, on the same parts. */
  servers: Record<Environment, FastifyInstance>
  usage: UsageRecorder
  /** Writes down when keys and people were last seen; done by itself every minute. */
  flushLastUsed(): Promise<void>
  close(): Promise<void>
}

/** Builds the whole product, the same for production and for tests. */
export async function buildApp(deps: AppDeps): Promise<App> {
  const { sql, clock, log, secrets, courier } = deps
  const urls = { ...deps.urls, auth: deps.authUrl }
  const exemptKeys = new Set(await bootstrapKeyHashes(sql))
  const credentials = new Credentials(
    [apiKeyCredentials(sql, exemptKeys), sessionCredentials(sql), oauthCredentials(sql)],
    membershipFinder(sql),
    clock,
  )
  const lastUsed = new LastUsed(clock)
  const flushLastUsed = () => lastUsed.flush(sql)
  // Not worth failing for: what is lost is when a key was last used.
  const flushQuietly = () =>
    flushLastUsed().catch((error) => log.warn({ err: error }, 'could not note when keys were used'))
  const flushing = setInterval(flushQuietly, 60_000).unref()
  // Also on every reconnect: what was notified meanwhile is unknown.
  const listening = listen(sql, 'plotbase_credentials', () => credentials.forgetAll(), log)
  const totals = new Totals((error) => log.warn({ err: error }, 'could not count a list'))
  const metrics = createMetrics(sql, sql.options.max)
  const registry = deps.worker ? Registry.merge([metrics.registry, deps.worker.registry]) : metrics.registry
  const announceEvents = deps.worker?.wake ?? announcer(sql, log)

  const usage = new UsageRecorder({ sql, clock, log, onDayKnown: (id, used) => limiter.learnDay(id, used) })
  const limiter = new Limiter({
    clock,
    shared: deps.sharedCounters,
    requestsPerAddress: deps.requestsPerAddress,
    onAdmitted: usage.count,
  })
  await usage.start()
  const overload = new Overload(deps.overload ?? { loopDelayMs: 0, poolWaitMs: 0 }, () => sql`select 1`, log)
  overload.start()

  const build = (environment: Environment): FastifyInstance => {
    const { bodyLimitBytes, trustedProxies = [] } = deps
    const headersFor = (ip: string) => limitHeaders(limiter.look(ip))
    const app = createServer({ log, bodyLimitBytes, trustedProxies, headersFor })
    metrics.watch(app, environment)
    shedLoad(app, overload, headersFor)
    const noteUse: Entrance['noteUse'] = (home, acting) => lastUsed.note(home, acting)
    const entrance = { credentials, environment, urls, noteUse }
    limitRequests(app, limiter, entrance)
    app.addHook('onResponse', async ({ method }, { statusCode }) => {
      if (method !== 'GET' && statusCode < 400) announceEvents()
    })
    mount(app, endpoints, {
      entrance,
      admit: deps.admit ?? admitWithin(limiter),
      sql,
      clock,
      log,
      totals,
      secrets,
      uploadLimitBytes: deps.importLimitBytes,
      courier,
    })
    refuseOtherMethods(app, endpoints)
    if (environment === 'production')
      serveOAuth(app, {
        sql,
        clock,
        log,
        secrets,
        authUrl: deps.authUrl,
        forgetCredentials: () => credentials.forgetAll(),
      })
    serveDocs(app, referenceOf(deps.urls))
    serveHealth(app, {
      sql,
      registry,
      version,
      sharedCounters: deps.sharedCounters,
      ...(deps.worker && { worker: deps.worker }),
    })
    return app
  }
  const [production, sandbox] = environments.map(build)
  const servers = { production: production!, sandbox: sandbox! }
  return {
    servers,
    usage,
    flushLastUsed,
    close: async () => {
      await Promise.all(Object.values(servers).map(finishAndClose))
      clearInterval(flushing)
      await flushQuietly()
      overload.stop()
      await usage.stop().catch((error) => log.warn({ err: error }, 'the last usage could not be written'))
      await listening.stop()
    },
  }
}

export const referenceOf = (urls: Record<Environment, string>) =>
  openApiDocument(endpoints, {
    version,
    servers: [
      { url: urls.production, description: 'Production' },
      { url: urls.sandbox, description: 'Sandbox' },
    ],
    tags: chapters,
  })
