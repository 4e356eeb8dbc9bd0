import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useHarness } from '../../test/harness.ts'
import type { Pool } from '../kernel/sql.ts'
import { connect, isoTimestamp, socketIn } from './db.ts'

const harness = useHarness()

describe('timestamps', () => {
  const cases: [string, string][] = [
    ['2026-01-31 09:30:00+00', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31 09:30:00.5+00', '2026-01-31T09:30:00.500Z'],
    ['2026-01-31 09:30:00.123456+00', '2026-01-31T09:30:00.123Z'],
  ]
  for (const [text, iso] of cases) it(`reads ${text}`, () => expect(isoTimestamp(text)).toBe(iso))
})

describe('an address', () => {
  it('can name a Unix socket', () => {
    expect(socketIn('postgres:///sales?host=/run/pg&user=plot&port=5433')).toEqual({
      host: '/run/pg',
      port: 5433,
      user: 'plot',
      database: 'sales',
    })
  })
  it('names a host otherwise', () => expect(socketIn('postgres://plot:word@db/sales')).toBeUndefined())
})

describe('a connection that is cut before its first statement', () => {
  // Says that it is ready, and goes away when it is asked for the types of arrays.
  const ready = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49])
  const unhandled: unknown[] = []
  const remember = (reason: unknown) => void unhandled.push(reason)
  beforeAll(() => void process.on('unhandledRejection', remember))
  afterAll(() => void process.off('unhandledRejection', remember))

  it('fails what waits for it, and nothing else', async () => {
    const server = createServer((socket) => {
      socket.once('data', () => {
        socket.write(ready)
        socket.once('data', () => {
          server.close()
          socket.resetAndDestroy()
        })
      })
    })
    await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume))
    const { port } = server.address() as AddressInfo
    const pool = connect({ url: `postgres://plot@127.0.0.1:${port}/sales` }, { max: 1 })
    await expect(pool`select 1`).rejects.toThrow(/ECONN/)
    // The driver would wait for a connection that is not to be had.
    await pool.end({ timeout: 0 })
    expect(unhandled).toEqual([])
  })
})

describe('a pool whose connections are cut', () => {
  let pool: Pool
  beforeAll(() => {
    pool = connect(harness.address, { max: 4, applicationName: 'cut' })
  })
  afterAll(() => pool.end())

  const cutAll = () => harness.sql`
    select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cut' and datname = current_database()`

  const inTransactions = () =>
    pool.begin(async (tx) => {
      await tx`select 1`
      await Promise.all([tx`select pg_sleep(0.02)`, tx`select 2`])
      await tx`select 3`
    })

  it('fails what was under way, and nothing else, however often', async () => {
    const outcomes: PromiseSettledResult<unknown>[] = []
    for (let round = 0; round < 30; round++) {
      const work = [
        ...Array.from({ length: 6 }, inTransactions),
        ...Array.from({ length: 12 }, () => pool`select pg_sleep(0.01)`),
      ]
      const settled = Promise.allSettled(work)
      await cutAll()
      outcomes.push(...(await settled))
    }
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(failed.length).toBeGreaterThan(0)
    // Every connection of the pool works again: as many at once as it has.
    const after = await Promise.all(
      Array.from({ length: 8 }, () => pool`select pg_backend_pid() as pid, pg_sleep(0.05)`),
    )
    expect(new Set(after.map(([row]) => row!.pid)).size).toBe(4)
  })
})
