import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { DeliveryLimits } from './delivery/deliver.ts'
import { createDeliveryEngine, type DeliveryEngine } from './delivery/engine.ts'
import { Bell, workChannel } from './delivery/wake.ts'
import { forgetExpiredSignIns } from './features/accounts/expire.ts'
import { forgetOldAnswers } from './features/idempotency/expire.ts'
import { forgetOldImports } from './features/imports/expire.ts'
import { runImports } from './features/imports/work.ts'
import { refreshScores } from './features/leads/score-refresh.ts'
import { forgetOldMail, sendMail } from './features/mail/send.ts'
import { resetDueSandboxes } from './features/sandbox/reset.ts'
import { forgetOldUsage } from './features/usage/queries.ts'
import { listen } from './infra/listen.ts'
import type { Mailer } from './infra/mailer.ts'
import type { Clock } from './kernel/clock.ts'
import type { Secrets, Urls } from './kernel/context.ts'
import type { Courier } from './kernel/courier.ts'
import type { Pool } from './kernel/sql.ts'

export interface WorkerDeps {
  sql: Pool
  clock: Clock
  log: Logger
  secrets: Secrets
  /** For links in mail. */
  urls: Urls
  /** Whether a reset sandbox is filled with demo data again. */
  demoData: boolean
  /** Undefined where no mail server is configured: mail is then kept. */
  mailer: Mailer | undefined
  courier: Courier
  limits: DeliveryLimits
}

/** Something done again and again. It must stand being run by several processes at once and being killed at any moment. */
export interface Loop {
  name: string
  everyMs: number
  /** Rung when there is something to do before that. */
  bell?: Bell
  run(): Promise<unknown>
}

/** Everything that happens without a request. The short periods are for what no notification told of. */
const loopsOf = (deps: WorkerDeps, { bells, ...delivery }: DeliveryEngine): Loop[] => [
  { name: 'fan out events', everyMs: 1_000, bell: bells.fanOut, run: delivery.fanOut },
  { name: 'deliver', everyMs: 1_000, bell: bells.deliver, run: delivery.deliver },
  { name: 'watch deliveries', everyMs: 10_000, run: delivery.watch },
  { name: 'forget old events', everyMs: 600_000, run: delivery.forgetOld },
  { name: 'forget old idempotent answers', everyMs: 600_000, run: () => forgetOldAnswers(deps) },
  { name: 'forget expired sign-ins and tokens', everyMs: 300_000, run: () => forgetExpiredSignIns(deps) },
  { name: 'send mail', everyMs: 2_000, run: () => sendMail(deps) },
  { name: 'forget old mail', everyMs: 3_600_000, run: () => forgetOldMail(deps) },
  { name: 'work off imports', everyMs: 250, run: () => runImports(deps) },
  { name: 'forget old imports', everyMs: 3_600_000, run: () => forgetOldImports(deps) },
  { name: 'reset sandboxes', everyMs: 30_000, run: () => resetDueSandboxes(deps) },
  { name: 'refresh lead scores', everyMs: 60_000, run: () => refreshScores(deps) },
  { name: 'forget old usage', everyMs: 3_600_000, run: () => forgetOldUsage(deps) },
]

export interface Worker {
  isMoving(): boolean
  /** Looks at once whether there is something to do. */
  wake(): void
  registry: Registry
  /** Ends the waits and waits for what is under way. */
  stop(): Promise<void>
}

// A loop that has not come round in three of its periods and a minute is stuck, not slow.
const patienceMs = (loop: Loop) => loop.everyMs * 3 + 60_000

export function startWorker(deps: WorkerDeps): Worker {
  const stopping = new AbortController()
  const delivery = createDeliveryEngine(deps)
  const listening = listen(deps.sql, workChannel, delivery.wake, deps.log)
  const running = loopsOf(deps, delivery).map((loop) => keepRunning(loop, deps.log, stopping.signal))
  return {
    wake: delivery.wake,
    registry: delivery.registry,
    isMoving: () =>
      delivery.isMoving() &&
      running.every(({ cameRoundAt, loop }) => performance.now() - cameRoundAt() < patienceMs(loop)),
    stop: async () => {
      stopping.abort()
      await listening.stop()
      await Promise.all(running.map(({ done }) => done))
      await delivery.drain()
    },
  }
}

function keepRunning(loop: Loop, log: Logger, stopping: AbortSignal) {
  const bell = loop.bell ?? new Bell()
  let cameRoundAt = performance.now()
  const done = (async () => {
    while (!stopping.aborted) {
      try {
        await loop.run()
        cameRoundAt = performance.now()
      } catch (error) {
        // The next round tries again: a database that restarts must not end the worker.
        log.error({ err: error, loop: loop.name }, 'a background loop failed')
        await new Bell().wait(failurePauseMs, stopping)
      }
      await bell.wait(loop.everyMs, stopping)
    }
  })()
  return { loop, done, cameRoundAt: () => cameRoundAt }
}

// A bell that keeps ringing must not turn a failure into a hot loop.
const failurePauseMs = 250
