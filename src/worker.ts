import type { Logger } from 'pino'
import { forgetExpiredSignIns } from './features/accounts/expire.ts'
import { forgetOldAnswers } from './features/idempotency/expire.ts'
import { refreshScores } from './features/leads/score-refresh.ts'
import { forgetOldMail, sendMail } from './features/mail/send.ts'
import { resetDueSandboxes } from './features/sandbox/reset.ts'
import { forgetOldUsage } from './features/usage/queries.ts'
import type { Mailer } from './infra/mailer.ts'
import type { Clock } from './kernel/clock.ts'
import type { Secrets } from './kernel/context.ts'
import type { Pool } from './kernel/sql.ts'

export interface WorkerDeps {
  sql: Pool
  clock: Clock
  log: Logger
  secrets: Secrets
  /** Whether a reset sandbox is filled with demo data again. */
  demoData: boolean
  /** Undefined where no mail server is configured: mail is then kept. */
  mailer: Mailer | undefined
}

/** Something done again and again. It must stand being run by several processes at once and being killed at any moment. */
export interface Loop {
  name: string
  everyMs: number
  run(deps: WorkerDeps): Promise<unknown>
}

/** Everything that happens without a request. */
const loops: Loop[] = [
  { name: 'forget old idempotent answers', everyMs: 600_000, run: forgetOldAnswers },
  { name: 'forget expired sign-ins and tokens', everyMs: 300_000, run: forgetExpiredSignIns },
  { name: 'send mail', everyMs: 2_000, run: sendMail },
  { name: 'forget old mail', everyMs: 3_600_000, run: forgetOldMail },
  { name: 'reset sandboxes', everyMs: 30_000, run: resetDueSandboxes },
  { name: 'refresh lead scores', everyMs: 60_000, run: refreshScores },
  { name: 'forget old usage', everyMs: 3_600_000, run: forgetOldUsage },
]

export interface Worker {
  isMoving(): boolean
  /** Ends the waits and waits for what is under way. */
  stop(): Promise<void>
}

// A loop that has not come round in three of its periods and a minute is stuck, not slow.
const patienceMs = (loop: Loop) => loop.everyMs * 3 + 60_000

export function startWorker(deps: WorkerDeps): Worker {
  const stopping = new AbortController()
  const running = loops.map((loop) => keepRunning(loop, deps, stopping.signal))
  return {
    isMoving: () =>
      running.every(({ cameRoundAt, loop }) => performance.now() - cameRoundAt() < patienceMs(loop)),
    stop: async () => {
      stopping.abort()
      await Promise.all(running.map(({ done }) => done))
    },
  }
}

function keepRunning(loop: Loop, deps: WorkerDeps, stopping: AbortSignal) {
  let cameRoundAt = performance.now()
  const done = (async () => {
    while (!stopping.aborted) {
      try {
        await loop.run(deps)
        cameRoundAt = performance.now()
      } catch (error) {
        // The next round tries again: a database that restarts must not end the worker.
        deps.log.error({ err: error, loop: loop.name }, 'a background loop failed')
      }
      await pause(loop.everyMs, stopping)
    }
  })()
  return { loop, done, cameRoundAt: () => cameRoundAt }
}

const pause = (ms: number, stopping: AbortSignal) =>
  new Promise<void>((resume) => {
    if (stopping.aborted) return resume()
    const timer = setTimeout(resume, ms)
    stopping.addEventListener('abort', () => (clearTimeout(timer), resume()), { once: true })
  })
