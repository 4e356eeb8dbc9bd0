import pino from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../../test/clock.ts'
import { aPrincipal } from '../../test/principal.ts'
import { isRedisInstalled, TestRedis } from '../../test/redis.ts'
import type { Principal } from '../kernel/context.ts'
import { Limiter } from '../kernel/limits/limiter.ts'
import { RedisCounters } from './redis-counters.ts'

/** Two processes' limiters on one Redis. */
describe.runIf(isRedisInstalled)('counts in Redis', () => {
  const logLines: { level: number; msg: string; reason?: string }[] = []
  const log = pino({}, { write: (line: string) => void logLines.push(JSON.parse(line)) })
  let redis: TestRedis
  let clock: ManualClock
  let counters: RedisCounters[] = []
  let limiters: Limiter[] = []

  beforeAll(async () => {
    redis = await TestRedis.start()
    return () => redis.kill()
  })
  beforeEach(async () => {
    clock = new ManualClock('2026-03-01T09:00:10.000Z')
    // On a busy machine Redis may take its time, and that is not what most of these tests are about.
    await connectBoth(5_000)
    return () => counters.map((each) => each.close())
  })

  async function connectBoth(patienceMs: number): Promise<void> {
    for (const each of counters) each.close()
    counters = [1, 2].map(() => new RedisCounters(redis.url, log, patienceMs))
    await Promise.all(counters.map((each) => each.start(10_000)))
    limiters = counters.map((shared) => new Limiter({ clock, shared }))
    logLines.length = 0
  }
  afterAll(() => redis.kill())

  const ask = (at: number, caller: Principal) => limiters[at]!.takeFor(caller, undefined, 'GET /v1/leads')

  /** Asks at both in turns, all at once; how many were admitted. */
  async function askBoth(times: number, caller: Principal): Promise<number> {
    const standings = await Promise.all(Array.from({ length: times }, (_, i) => ask(i % 2, caller)))
    return standings.filter(({ admitted }) => admitted).length
  }

  const untilShared = () =>
    expect.poll(() => counters.every(({ reachable }) => reachable), { timeout: 5_000 }).toBe(true)

  it('admit one budget between them, exactly', async () => {
    const caller = aPrincipal('professional')
    expect(await askBoth(60, caller)).toBe(25)
    clock.advance(1_000)
    expect(await askBoth(60, caller)).toBe(25)
    const standing = await ask(0, caller)
    expect(standing.used).toEqual([25, 50, 50])
    expect(standing.admitted).toBe(false)
  })

  it('do not count what was refused, in none of the windows', async () => {
    const caller = aPrincipal('starter', { burst: 1_000, minute: 20 })
    expect(await askBoth(100, caller)).toBe(20)
    clock.advance(50_000)
    expect((await ask(0, caller)).used).toEqual([1, 1, 21])
  })

  it('are shared for addresses too', async () => {
    const asked = await Promise.all(
      Array.from({ length: 100 }, (_, i) => limiters[i % 2]!.takeFrom('192.0.2.77')),
    )
    expect(asked.filter(({ admitted }) => admitted)).toHaveLength(60)
  })

  it('go on from what the processes know when Redis comes back empty', async () => {
    const caller = aPrincipal('professional', { burst: 1_000 })
    expect(await askBoth(50, caller)).toBe(50)
    // What each was told last is what it goes on from.
    expect((await ask(1, caller)).used[2]).toBe(51)
    expect((await ask(0, caller)).used[2]).toBe(52)
    await redis.kill()
    await expect.poll(() => counters.some(({ reachable }) => reachable)).toBe(false)
    expect((await ask(0, caller)).used[2]).toBe(53)
    await redis.startAgain()
    await untilShared()
    expect((await ask(1, caller)).used[2]).toBe(52)
    expect((await ask(0, caller)).used[2]).toBe(54)
    expect((await ask(1, caller)).used[2]).toBe(55)
    expect(await askBoth(100, caller)).toBe(120 - 55)
    expect(logLines.map(({ level, msg }) => [level, msg])).toEqual([
      [40, 'Redis does not answer: each process limits on its own until it does'],
      [40, 'Redis does not answer: each process limits on its own until it does'],
      [30, 'Redis answers: the processes share their limits'],
      [30, 'Redis answers: the processes share their limits'],
    ])
  })

  it('are waited for 50 ms once, not again while Redis is silent, and come back by themselves', async () => {
    await connectBoth(50)
    const caller = aPrincipal('enterprise')
    redis.pause()
    const startedAt = performance.now()
    expect((await ask(0, caller)).admitted).toBe(true)
    const firstMs = performance.now() - startedAt
    expect(firstMs).toBeGreaterThan(45)
    expect(firstMs).toBeLessThan(250)
    const before = performance.now()
    for (let i = 0; i < 50; i++) expect((await ask(0, caller)).admitted).toBe(true)
    expect(performance.now() - before).toBeLessThan(500)
    expect(counters[0]!.reachable).toBe(false)
    expect(logLines.filter(({ level }) => level >= 40)).toMatchObject([{ reason: 'no answer in 50 ms' }])
    redis.resume()
    await untilShared()
    expect((await ask(1, caller)).used[1]).toBeGreaterThanOrEqual(1)
  })

  it('are not given up on for a pause of our own process', async () => {
    await connectBoth(50)
    const asked = ask(0, aPrincipal('enterprise'))
    // Asleep rather than busy, so that Redis can run meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    expect((await asked).admitted).toBe(true)
    expect(counters[0]!.reachable).toBe(true)
  })

  it('do not hold up the start when Redis is not there', async () => {
    const nowhere = new RedisCounters('redis://:secret-word@127.0.0.1:1', log)
    const startedAt = performance.now()
    await nowhere.start(200)
    expect(performance.now() - startedAt).toBeLessThan(1_000)
    expect(nowhere.reachable).toBe(false)
    expect(JSON.stringify(logLines)).toContain('did not answer at the start')
    expect(JSON.stringify(logLines)).not.toContain('secret-word')
    nowhere.close()
  })
})
