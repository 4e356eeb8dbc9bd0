import type { Logger } from 'pino'
import type { Pool } from '../kernel/sql.ts'

/** Processes tell each other on this channel that there is something to do. */
export const workChannel = 'plotbase_work'

/** Waits that can be cut short. A ring while nobody waits is remembered. */
export class Bell {
  #rung = false
  #answer: (() => void) | undefined

  ring = (): void => {
    this.#rung = true
    this.#answer?.()
  }

  async wait(ms: number, stopping: AbortSignal): Promise<void> {
    if (!this.#rung && !stopping.aborted) {
      await new Promise<void>((resume) => {
        const timer = setTimeout(resume, ms)
        this.#answer = () => {
          clearTimeout(timer)
          resume()
        }
        stopping.addEventListener('abort', this.#answer, { once: true })
      })
      stopping.removeEventListener('abort', this.#answer!)
      this.#answer = undefined
    }
    this.#rung = false
  }
}

const leastGapMs = 10

/**
 * Tells the workers of other processes that events were written: at once, then at most every ten
 * milliseconds. Not by a trigger on the table: PostgreSQL lets transactions that notify commit one at
 * a time, which would hold up every write.
 */
export function announcer(sql: Pool, log: Logger): () => void {
  let lastAt = Number.NEGATIVE_INFINITY
  let planned = false
  const notify = async () => {
    planned = false
    lastAt = performance.now()
    try {
      // Nothing is lost when this does not survive a power failure, so it need not wait for the disk.
      await sql.unsafe(`set local synchronous_commit = off; notify ${workChannel}`)
    } catch (error) {
      log.debug({ err: error }, 'could not wake the workers; they will look by themselves')
    }
  }
  return () => {
    if (planned) return
    planned = true
    const waitMs = lastAt + leastGapMs - performance.now()
    if (waitMs <= 0) void notify()
    else setTimeout(notify, waitMs)
  }
}
