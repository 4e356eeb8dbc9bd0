import type { Logger } from 'pino'
import type { Clock } from '../../kernel/clock.ts'
import type { Principal } from '../../kernel/context.ts'
import type { Pool } from '../../kernel/sql.ts'
import { addUsage, usedOn } from './queries.ts'
import { Days, Tally } from './tally.ts'

// A process that is killed forgets at most this much; one that is stopped forgets nothing.
const flushEveryMs = 5_000

interface Options {
  sql: Pool
  clock: Clock
  log: Logger
  /** Told what a workspace has used today, all processes together. */
  onDayKnown(workspaceId: string, used: number): void
}

/** Counts requests in memory and adds them to the database every few seconds, however many they are. */
export class UsageRecorder {
  readonly #options: Options
  readonly #days = new Days()
  readonly #tally = new Tally()
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** Reads back what was used today, then writes from time to time. */
  async start(): Promise<void> {
    const { sql, log, onDayKnown } = this.#options
    for (const { workspace_id, used } of await usedOn(sql, this.#today())) onDayKnown(workspace_id, used)
    this.#timer = setInterval(() => {
      this.flush().catch((error) =>
        log.warn({ err: error }, 'could not write the usage; the next round tries again'),
      )
    }, flushEveryMs)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  count = (principal: Principal, route: string, nowMs: number): void =>
    this.#tally.add(this.#days.at(nowMs), principal.workspace.id, principal.credentialId, route)

  /** One write at a time: the next one takes what has come meanwhile. */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => {}).then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const rows = this.#tally.takeRows()
    if (rows.length === 0) return
    try {
      await addUsage(this.#options.sql, rows)
    } catch (error) {
      for (const row of rows)
        this.#tally.add(row.day, row.workspace_id, row.credential_id, row.route, row.requests)
      throw error
    }
    await this.#tellToday([...new Set(rows.map((row) => row.workspace_id))])
  }

  // Other processes write too: this is how each learns of the others' requests where they share no Redis.
  async #tellToday(workspaceIds: string[]): Promise<void> {
    const { sql, onDayKnown } = this.#options
    const today = this.#today()
    for (const { workspace_id, used } of await usedOn(sql, today, workspaceIds))
      if (today === this.#today())
        onDayKnown(workspace_id, used + this.#tally.requestsOf(today, workspace_id))
  }

  #today = () => this.#days.at(this.#options.clock.now().getTime())
}
