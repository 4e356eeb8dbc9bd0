import pino from 'pino'
import { afterAll, beforeAll } from 'vitest'
import type { DeliveryLimits } from '../src/delivery/deliver.ts'
import { createDeliveryEngine, type DeliveryEngine } from '../src/delivery/engine.ts'
import { fanOut } from '../src/delivery/fan-out.ts'
import type { Harness } from './harness.ts'
import { type Answering, Receiver } from './receiver.ts'

/** The delivery engine on the harness' database and clock: it moves when a test says so. */

const minute = 60_000
export const schedule = [5 * minute, 30 * minute, 120 * minute, 1440 * minute]

export const limits: DeliveryLimits = {
  concurrency: 32,
  concurrencyPerHost: 8,
  timeoutMs: 1_000,
  retryDelaysMs: schedule,
}

export class Delivering {
  readonly #harness: Harness
  readonly #receivers: Receiver[] = []
  engine!: DeliveryEngine

  constructor(harness: Harness) {
    this.#harness = harness
  }

  start(): void {
    const { sql, clock, secrets, courier } = this.#harness
    const log = pino({ level: 'warn' })
    this.engine = createDeliveryEngine({ sql, clock, log, secrets, courier, limits })
  }

  async stop(): Promise<void> {
    await this.engine.drain()
    for (const receiver of this.#receivers) await receiver.close()
  }

  async receiver(answer?: Answering): Promise<Receiver> {
    const receiver = await Receiver.open(answer)
    this.#receivers.push(receiver)
    return receiver
  }

  /** Numbers and queues what was committed. */
  async fanOut(): Promise<void> {
    while ((await fanOut(this.#harness)) > 0);
  }

  /** Until nothing is due at this time of the clock. */
  async settle(): Promise<void> {
    const { sql, clock } = this.#harness
    await this.fanOut()
    for (let round = 0; round < 600; round++) {
      await this.engine.deliver()
      const [left] = await sql`select count(*)::int as due from deliveries where due_at <= ${clock.now()}`
      if (left!.due === 0) return
      await new Promise((resume) => setTimeout(resume, 5))
    }
    throw new Error('deliveries do not come to rest')
  }

  async advance(ms: number): Promise<void> {
    this.#harness.clock.advance(ms)
    await this.settle()
  }
}

export function useDelivering(harness: Harness): Delivering {
  const delivering = new Delivering(harness)
  beforeAll(() => delivering.start())
  afterAll(() => delivering.stop())
  return delivering
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answered = any

export async function createWebhook(harness: Harness, url: string, body: object = {}): Promise<Answered> {
  const { data } = await harness.scenario({
    post: '/v1/webhooks',
    body: { url, events: ['*'], ...body },
    status: 201,
  })
  return data
}

export async function deliveriesOf(harness: Harness, webhookId: string, query = ''): Promise<Answered[]> {
  const { data } = await harness.scenario({
    get: `/v1/webhooks/${webhookId}/deliveries${query}`,
    status: 200,
  })
  return data
}
