import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { App } from '../../src/app.ts'
import { connect } from '../../src/infra/db.ts'
import type { Pool } from '../../src/kernel/sql.ts'
import { databaseNamed } from '../global-setup.ts'
import { useHarness } from '../harness.ts'

const harness = useHarness()
let pool: Pool
let app: App

beforeAll(async () => {
  const [row] = await harness.sql`select current_database() as name`
  pool = connect(databaseNamed(inject('server'), row!.name), { max: 2 })
  app = await harness.buildApp(pool, { overload: { loopDelayMs: 1_000, poolWaitMs: 1_000 } })
})
afterAll(async () => {
  await app.close()
  await pool.end()
})

async function get(url: string) {
  const startedAt = performance.now()
  const answer = await app.servers.production.inject({
    url,
    headers: { authorization: `Bearer ${harness.tenant.adminKey}` },
  })
  return { ...answer, status: answer.statusCode, answer, ms: performance.now() - startedAt }
}

const untilServed = () =>
  expect.poll(async () => (await get('/v1/properties')).status, { timeout: 10_000 }).toBe(200)

const pauseThisThread = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)

async function expectRefused() {
  const { status, answer, ms } = await get('/v1/properties')
  expect(status).toBe(503)
  expect(ms).toBeLessThan(500)
  expect(answer.json()).toEqual({
    success: false,
    error: {
      code: 'OVERLOADED',
      message: 'The service has more to do than it can right now. Try again in 1 second.',
      retry_after: 1,
      request_id: answer.headers['x-request-id'],
    },
  })
  expect(answer.headers['retry-after']).toBe('1')
  expect(answer.headers['x-ratelimit-limit']).toBeTruthy()
}

describe('a process with too much to do', () => {
  it('refuses new requests while its event loop is late, and only then', async () => {
    await untilServed()
    pauseThisThread()
    await expectRefused()
    expect((await get('/healthz')).status).toBe(200)
    await untilServed()
    expect(
      harness.logLines.filter((line) => line.includes('overloaded: refusing requests')),
    ).not.toHaveLength(0)
  })

  it('refuses new requests while the pool is at its end, and goes on answering for its health', async () => {
    const busy = [1, 2].map(() => pool.begin((tx) => tx`select pg_sleep(5)`))
    await sleep(2_000)
    await expectRefused()
    const [health, ready, metrics] = await Promise.all([get('/healthz'), get('/readyz'), get('/metrics')])
    expect(health.status).toBe(200)
    expect(ready.status).toBe(503)
    expect(metrics.status).toBe(200)
    expect(metrics.answer.body).toContain('nodejs_eventloop_lag_seconds')
    expect(Math.max(health.ms, ready.ms, metrics.ms)).toBeLessThan(3_000)
    await Promise.all(busy)
    await untilServed()
  })

  it('takes what it refuses off no limit', async () => {
    const used = async () => (await get('/v1/rate-limit')).answer.json().data.daily.used
    const before = await used()
    pauseThisThread()
    await expectRefused()
    await untilServed()
    // The one that was served, and this one.
    expect(await used()).toBe(before + 2)
  })
})
