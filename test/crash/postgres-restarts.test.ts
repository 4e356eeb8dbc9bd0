import { mkdtemp, rm, symlink, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connect } from '../../src/infra/db.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/infra/embedded-postgres.ts'
import { aProperty } from '../fixtures.ts'
import { databaseUrl, freePort, freePorts, plotbase, portVariables, stopped, untilReady } from '../process.ts'
import { Receiver } from '../receiver.ts'
import { randomBetween, rounds, startMs, until, untilDelivered } from './cluster.ts'

/** A PostgreSQL that goes away and comes back at the same address. */
class RestartingPostgres {
  #folder = ''
  #server!: EmbeddedPostgres
  async start(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'plotbase-restart-'))
    await this.#up()
  }
  get address() {
    return { socket: { ...this.#server.connection, host: join(this.#folder, 'socket') } }
  }
  // Each start has a socket of its own; the address that the processes know is a link to it.
  async #up(): Promise<void> {
    this.#server = await startEmbeddedPostgres({ dataDir: join(this.#folder, 'data') })
    await unlink(join(this.#folder, 'socket')).catch(() => {})
    await symlink(this.#server.connection.host, join(this.#folder, 'socket'))
  }
  async restart(downMs: number): Promise<void> {
    await this.#server.stop()
    await sleep(downMs)
    await this.#up()
  }
  async stop(): Promise<void> {
    await this.#server.stop()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

const postgres = new RestartingPostgres()
let receiver: Receiver
beforeAll(async () => {
  await postgres.start()
  receiver = await Receiver.open()
})
afterAll(async () => {
  await receiver.close()
  await postgres.stop()
})

it(
  'PostgreSQL restarted under load: nothing is lost, and our processes go on by themselves',
  async () => {
    const ports = await freePorts()
    const workerPort = await freePort()
    const key = `pb_live_${'k'.repeat(32)}`
    const env = {
      DATABASE_URL: databaseUrl(postgres.address),
      SECRET_KEY: 'a key for the processes of crash tests',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      WEBHOOK_TIMEOUT: '500ms',
      BOOTSTRAP_API_KEY: key,
      DEMO_DATA: 'false',
    }
    const api = plotbase(['serve'], { ...env, ...portVariables(ports) })
    await untilReady(api, ports.production, startMs)
    const worker = plotbase(['work'], { ...env, WORKER_PORT: String(workerPort) })
    await untilReady(worker, workerPort, startMs)

    const post = async (path: string, body: object) => {
      const response = await fetch(`http://127.0.0.1:${ports.production}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(10_000),
      }).catch(() => undefined)
      return response?.status === 201 ? ((await response.json()) as { data: { id: string } }).data : undefined
    }
    // A busy machine makes the API turn requests away for a moment.
    const subscription = { url: receiver.url, events: ['property.created'] }
    await until('a webhook', () => post('/v1/webhooks', subscription), 30_000)

    let loading = true
    const answered = new Set<string>()
    const load = Promise.all(
      Array.from({ length: 3 }, async () => {
        while (loading) {
          const property = await post('/v1/properties', aProperty)
          if (property) answered.add(property.id)
          await sleep(property ? 50 : 200)
        }
      }),
    )
    for (let round = 0; round < 2 * rounds; round++) {
      await sleep(randomBetween(200, 800))
      await postgres.restart(randomBetween(0, 1_500))
      // Both ends work again: a change is taken, and it arrives.
      const before = answered.size
      const took = await until('changes taken again', () => answered.size > before, 30_000)
      const arrived = receiver.received.length
      const came = await until('deliveries made again', () => receiver.received.length > arrived, 30_000)
      expect(took + came).toBeLessThan(30_000)
    }
    loading = false
    await load
    const sql = connect(postgres.address, { max: 2 })
    await untilDelivered(sql, 90_000)
    const committed = (await sql`select id from properties`).map(({ id }) => id)
    await sql.end()
    const told = new Set(receiver.received.map(({ json }) => json.data.id))
    expect([...answered].filter((id) => !committed.includes(id))).toEqual([])
    expect([...told].sort()).toEqual([...committed].sort())
    expect((await stopped(worker)).code, worker.output().slice(-2_000)).toBe(0)
    expect((await stopped(api)).code, api.output().slice(-2_000)).toBe(0)
  },
  // Two processes that start and two restarts: seconds when the machine is ours, minutes when it is not.
  300_000 * rounds,
)
