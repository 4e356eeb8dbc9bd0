import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { insertKey } from '../../src/features/api-keys/queries.ts'
import { newKeyToken } from '../../src/features/api-keys/token.ts'
import { insertWorkspacePair } from '../../src/features/workspaces/queries.ts'
import { connect, type DatabaseAddress } from '../../src/infra/db.ts'
import type { CustomLimits } from '../../src/kernel/limits/plans.ts'
import type { Pool } from '../../src/kernel/sql.ts'
import { databaseNamed } from '../global-setup.ts'
import { cloneTemplate, dropDatabase } from '../harness.ts'
import {
  databaseUrl,
  freePorts,
  plotbase,
  plotbaseOnce,
  portVariables,
  type RunningProcess,
  stopped,
  untilReady,
} from '../process.ts'
import { isRedisInstalled, TestRedis } from '../redis.ts'

/** Two API processes, one PostgreSQL, one Redis: all real. */

let database: string
let address: DatabaseAddress
let sql: Pool

beforeAll(async () => {
  database = await cloneTemplate()
  address = databaseNamed(inject('server'), database)
  sql = connect(address, { max: 2 })
})
afterAll(async () => {
  await sql.end()
  await dropDatabase(database)
})

async function newKey(customLimits: CustomLimits): Promise<{ key: string; workspaceId: string }> {
  const now = new Date()
  const { production } = await insertWorkspacePair(
    sql,
    { name: 'Load', plan: 'professional', currency: 'USD', customLimits },
    now,
  )
  const token = newKeyToken('production')
  await insertKey(
    sql,
    { workspaceId: production.id, name: 'load', scopes: ['admin'], token, createdBy: null },
    now,
  )
  return { key: token, workspaceId: production.id }
}

interface Api {
  running: RunningProcess
  url: string
}

async function startApi(env: Record<string, string> = {}): Promise<Api> {
  const ports = await freePorts()
  const running = plotbase(['serve'], {
    DATABASE_URL: databaseUrl(address),
    DATABASE_POOL: '4',
    // This test is about limits; on a busy machine a start alone can make a process late.
    OVERLOAD_LOOP_DELAY: '0',
    OVERLOAD_POOL_WAIT: '0',
    ...portVariables(ports),
    ...env,
  })
  await untilReady(running, ports.production)
  return { running, url: `http://127.0.0.1:${ports.production}` }
}

async function get({ url }: Api, path: string, key: string) {
  const startedAt = performance.now()
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
  return { status: answer.status, body: await answer.json(), ms: performance.now() - startedAt }
}

const limitsNote = async ({ url }: Api) =>
  ((await (await fetch(`${url}/healthz`)).json()) as { limits: string }).limits

const dailyUsed = async (api: Api, key: string) =>
  ((await get(api, '/v1/rate-limit', key)).body as { data: { daily: { used: number } } }).data.daily.used

/** A minute with enough left of it for the load. */
async function inOneMinute(neededMs: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000)
  if (leftMs < neededMs) await sleep(leftMs + 50)
}

/** So many requests at both, a few at a time; the statuses. */
async function load(apis: Api[], times: number, key: string): Promise<number[]> {
  const statuses: number[] = []
  let next = 0
  const lane = async () => {
    while (next < times) statuses.push((await get(apis[next++ % apis.length]!, '/v1/rate-limit', key)).status)
  }
  await Promise.all(Array.from({ length: 16 }, lane))
  return statuses
}

const count = (statuses: number[], status: number) => statuses.filter((each) => each === status).length

describe.runIf(isRedisInstalled || process.env.REDIS_URL)(
  'processes on one Redis',
  { timeout: 60_000 },
  () => {
    let redis: TestRedis | undefined
    let apis: Api[]
    beforeAll(async () => {
      redis = isRedisInstalled ? await TestRedis.start() : undefined
      const env = { REDIS_URL: redis?.url ?? process.env.REDIS_URL! }
      apis = await Promise.all([startApi(env), startApi(env)])
    })
    afterAll(async () => {
      await Promise.all(apis.map(({ running }) => stopped(running)))
      await redis?.kill()
    })

    it('admit one budget between them at twice the load', async () => {
      const budget = 300
      const { key } = await newKey({ burst: 10_000, minute: budget, day: null })
      await inOneMinute(10_000)
      const statuses = await load(apis, 2 * budget, key)
      const admitted = count(statuses, 200)
      expect(admitted).toBeGreaterThanOrEqual(budget * 0.95)
      expect(admitted).toBeLessThanOrEqual(budget * 1.1)
      expect(count(statuses, 429)).toBe(2 * budget - admitted)
    })

    /** Both count on from each other, four times in turn. On a busy machine Redis is late now and then. */
    const untilCountedTogether = (key: string) =>
      expect
        .poll(
          async () => {
            const counts: number[] = []
            for (let i = 0; i < 4; i++) counts.push(await dailyUsed(apis[i % 2]!, key))
            return counts.map((used) => used - counts[0]!)
          },
          { timeout: 20_000 },
        )
        .toEqual([0, 1, 2, 3])

    const waitsFor = async (times: number, key: string): Promise<number> => {
      const startedAt = performance.now()
      for (let i = 0; i < times; i++) await get(apis[i % 2]!, '/v1/rate-limit', key)
      return performance.now() - startedAt
    }

    it.runIf(isRedisInstalled)('go on serving when Redis stalls, dies and comes back', async () => {
      const { key } = await newKey({ burst: 10_000, minute: 10_000, day: null })
      await untilCountedTogether(key)
      const usualMs = await waitsFor(40, key)

      redis!.pause()
      expect(count(await load(apis, 100, key), 200)).toBe(100)
      for (const api of apis) expect(await limitsNote(api)).toContain('Redis is away')
      // Forty waits of 50 ms would be two seconds more.
      expect(await waitsFor(40, key)).toBeLessThan(usualMs * 2 + 1_000)
      redis!.resume()
      await untilCountedTogether(key)

      const underLoad = load(apis, 400, key)
      await sleep(100)
      await redis!.kill()
      expect(count(await underLoad, 200)).toBe(400)
      for (const api of apis) expect(await limitsNote(api)).toContain('Redis is away')
      expect(await waitsFor(40, key)).toBeLessThan(usualMs * 2 + 1_000)
      await redis!.startAgain()
      await untilCountedTogether(key)

      for (const { running } of apis) {
        // Log lines are gathered for a second before they are written.
        await sleep(1_500)
        const lines = (text: string) => running.output().split(text).length - 1
        expect(lines('Redis does not answer')).toBeGreaterThanOrEqual(2)
        // Once at the start, and once after each time it was away.
        expect(lines('Redis answers')).toBe(lines('Redis does not answer') + 1)
      }
    })
  },
)

describe('a process', { timeout: 60_000 }, () => {
  it("keeps the day's count when it is stopped, and loses a few seconds of it when it is killed", async () => {
    const { key, workspaceId } = await newKey({ burst: 10_000, minute: 10_000 })
    const first = await startApi()
    expect(await limitsNote(first)).toBe('counted in this process')
    for (let i = 1; i <= 20; i++) expect(await dailyUsed(first, key)).toBe(i)
    expect((await stopped(first.running)).code).toBe(0)

    const second = await startApi()
    expect(await dailyUsed(second, key)).toBe(21)
    // Written every five seconds.
    const written = async () =>
      (await sql`select sum(requests)::int as n from usage_days where workspace_id = ${workspaceId}`)[0]!.n
    await expect.poll(written, { timeout: 15_000 }).toBe(21)
    for (let i = 0; i < 10; i++) await dailyUsed(second, key)
    await stopped(second.running, 'SIGKILL')

    const third = await startApi()
    const kept = await dailyUsed(third, key)
    expect(kept).toBeGreaterThanOrEqual(22)
    expect(kept).toBeLessThanOrEqual(32)
    await stopped(third.running)
  })
})

describe('an operator', { timeout: 60_000 }, () => {
  const run = async (...words: string[]) => {
    const command = ['workspace', 'limits', ...words, '--json']
    const { code, output } = await plotbaseOnce(command, { DATABASE_URL: databaseUrl(address) })
    return code === 0
      ? Object.fromEntries(
          JSON.parse(output).map((row: { window: string; limit: unknown }) => [row.window, row.limit]),
        )
      : output
  }

  it('sees and changes the limits of a workspace and its sandbox', async () => {
    const { workspaceId } = await newKey({ burst: 50 })
    const plan = { burst: 25, minute: 120, day: 50_000, leads: 100, leads_bulk: 10, import: 5, analytics: 30 }
    expect(await run('--workspace', workspaceId)).toEqual({ ...plan, burst: 50 })
    const changed = await run('--workspace', workspaceId, '--day', 'none', '--leads-bulk', '20')
    expect(changed).toEqual({ ...plan, burst: 50, day: 'none', leads_bulk: 20 })
    const rows = await sql`
      select custom_limits from workspaces where coalesce(production_id, id) = ${workspaceId}`
    expect(rows.map((row) => row.custom_limits)).toEqual(
      Array(2).fill({ burst: 50, day: null, leads_bulk: 20 }),
    )
    expect(await run('--workspace', workspaceId, '--minute', '0')).toContain('must be a whole number from 1')
    expect(await run('--workspace', workspaceId, '--reset')).toEqual(plan)
    expect(await run('--workspace', 'ws_nowhere')).toContain('there is no workspace ws_nowhere')
  })
})
