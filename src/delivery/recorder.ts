import type { Logger } from 'pino'
import { disableWebhook } from '../features/webhooks/stop.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Secrets } from '../kernel/context.ts'
import { begin, type Pool } from '../kernel/sql.ts'
import { type Result, recordResults } from './queue.ts'

interface RecorderDeps {
  sql: Pool
  clock: Clock
  log: Logger
  secrets: Secrets
}

const mostAtOnce = 500
const retryMs = 500

/**
 * Writes results one batch after the other: while one is on its way to the database the next gathers,
 * so that a busy worker writes hundreds at once and a quiet one without delay.
 */
export class Recorder {
  readonly #deps: RecorderDeps
  readonly #recorded: () => void
  #gathered: Result[] = []
  #writing: Promise<void> | undefined
  #beingWritten = 0
  #stopping = false

  constructor(deps: RecorderDeps, recorded: () => void) {
    this.#deps = deps
    this.#recorded = recorded
  }

  get size(): number {
    return this.#gathered.length + this.#beingWritten
  }

  add(result: Result): void {
    this.#gathered.push(result)
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
  }

  async drain(): Promise<void> {
    this.#stopping = true
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    // Those that end in the same turn of the loop go together.
    await new Promise(setImmediate)
    while (this.#gathered.length > 0) {
      const batch = this.#gathered.splice(0, mostAtOnce)
      this.#beingWritten = batch.length
      await this.#write(batch)
      this.#beingWritten = 0
      this.#recorded()
    }
  }

  // While the database is away, what was done is kept and written later. A result whose lease has passed
  // meanwhile changes nothing any more: the delivery is tried again, which at least once allows.
  async #write(batch: Result[]): Promise<void> {
    for (;;) {
      try {
        return await writeResults(this.#deps, batch)
      } catch (error) {
        this.#deps.log.warn({ err: error, results: batch.length }, 'could not record deliveries')
        if (this.#stopping) return
        await new Promise((resume) => setTimeout(resume, retryMs))
      }
    }
  }
}

async function writeResults(deps: RecorderDeps, results: Result[]): Promise<void> {
  const { sql, secrets, clock } = deps
  if (results.every((result) => !endsWebhook(result))) {
    await recordResults(sql, results)
    return
  }
  await begin(sql, async (tx) => {
    const recorded = await recordResults(tx, results)
    for (const { target, reason } of reasonsToDisable(recorded))
      await disableWebhook({ sql: tx, secrets, now: clock.now() }, target, reason)
  })
}

const endsWebhook = ({ delivered, attempt, dueAt }: Result) =>
  !delivered && attempt !== null && (dueAt === null || isGone(attempt))

/** One reason per webhook, in the order of their ids, as everywhere where several are locked. */
function reasonsToDisable(recorded: Set<Result>) {
  const found = [...recorded]
    .filter(endsWebhook)
    .map(({ claimed, attempt }) => ({
      id: `${claimed.workspace_id} ${claimed.webhook_id}`,
      target: { workspaceId: claimed.workspace_id, webhookId: claimed.webhook_id, url: claimed.url },
      reason: isGone(attempt!)
        ? 'the receiver answered 410, which means that it is gone for good.'
        : `all attempts to deliver ${claimed.id} failed, the last with: ${attempt!.error}`,
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  return new Map(found.map((each) => [each.id, each])).values()
}

const isGone = ({ response_code }: { response_code: number | null }) => response_code === 410
