import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createProperty } from '../fixtures.ts'
import { useHarness } from '../harness.ts'
import { sendFile } from '../importing.ts'
import { databaseUrl, plotbase, type RunningProcess } from '../process.ts'

const harness = useHarness()
const rows = 30_000

const worker = (): RunningProcess =>
  plotbase(['work'], {
    DATABASE_URL: databaseUrl(harness.address),
    SECRET_KEY: 'k'.repeat(40),
    LOG_LEVEL: 'warn',
  })

const progress = async (id: string) =>
  (await harness.sql`select status, processed, created, failed from imports where id = ${id}`)[0]!

async function until(
  id: string,
  running: RunningProcess,
  reached: (now: { processed: number; status: string }) => boolean,
) {
  for (;;) {
    const now = await progress(id)
    if (reached(now as never)) return now
    expect(running.child.exitCode, running.output()).toBeNull()
    await sleep(5)
  }
}

/** The worker is killed twice in the middle of a file, by the signal that nobody can catch. */
it('loses no row and does none twice when its worker is killed', { timeout: 180_000 }, async () => {
  const property = await createProperty(harness, { external_id: 'HOME' })
  const lines = Array.from({ length: rows }, (_, at) =>
    at % 100 === 7 ? `,HOME,1` : `Unit ${at},HOME,${at}`,
  )
  const file = `name,property,price\n${lines.join('\n')}\n`
  const { data } = await sendFile(harness, { post: '/v1/units/import', file })

  let seen = 0
  for (let kill = 0; kill < 2; kill++) {
    const running = worker()
    const { processed } = await until(data.id, running, (now) => now.processed > seen)
    running.child.kill('SIGKILL')
    expect((await running.exited).signal).toBe('SIGKILL')
    seen = processed
    expect(seen).toBeLessThan(rows)
  }
  const last = worker()
  const end = await until(data.id, last, ({ status }) => status === 'completed')
  last.child.kill()
  await last.exited

  const right = rows - rows / 100
  expect(end).toMatchObject({ processed: rows, created: right, failed: rows / 100 })
  const [count] = await harness.sql`
    select count(*)::int as units, count(distinct name)::int as names,
      (select count(*)::int from events where event = 'unit.created') as events,
      (select count(distinct resource_id)::int from events where event = 'unit.created') as told,
      (select count(*)::int from import_records) as records,
      (select count(*)::int from import_rejects) as rejects
    from units where property_id = ${property.id}`
  expect(count).toEqual({
    units: right,
    names: right,
    events: right,
    told: right,
    records: right,
    rejects: rows / 100,
  })
})
