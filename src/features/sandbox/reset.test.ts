import pino from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { createProperty, createUnit } from '../../../test/fixtures.ts'
import { type Tenant, useHarness } from '../../../test/harness.ts'
import { lastSunday, resetDueSandboxes, resetSandbox } from './reset.ts'
import { businessTables, keptTables } from './tables.ts'

const harness = useHarness()
const { scenario } = harness
const dayMs = 86_400_000

let tenant: Tenant
beforeEach(async () => {
  tenant = await harness.createTenant({ name: 'Busy', plan: 'enterprise', currency: 'EUR' })
})

const lines: string[] = []
const deps = (demoData = false) => ({
  sql: harness.sql,
  clock: harness.clock,
  log: pino({}, { write: (line: string) => void lines.push(line) }),
  demoData,
})

const fill = async () => {
  const as = { as: tenant.testKey, on: 'sandbox' as const }
  const property = (
    await scenario({
      ...as,
      post: '/v1/properties',
      body: { name: 'Test', type: 'villa', location: { city: 'Dubai', country: 'AE' } },
      headers: { 'idempotency-key': 'same' },
      status: 201,
    })
  ).data
  await scenario({
    ...as,
    post: '/v1/units',
    body: { property_id: property.id, name: 'A', price: { amount: 1 } },
    status: 201,
  })
  const live = await createProperty(harness, {}, tenant.adminKey)
  await createUnit(harness, live.id, {}, tenant.adminKey)
}
const properties = async (as: string, on: 'production' | 'sandbox') =>
  (await scenario({ as, on, get: '/v1/properties', status: 200 })).body.meta.total

/** Moves to one minute after the next Sunday has begun. */
const untilSunday = () => {
  const next = lastSunday(harness.clock.now()).getTime() + 7 * dayMs + 60_000
  harness.clock.advance(next - harness.clock.now().getTime())
}

it.each([
  ['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  ['2026-02-28T23:59:59.999Z', '2026-02-22T00:00:00.000Z'],
  ['2026-03-07T12:00:00.000Z', '2026-03-01T00:00:00.000Z'],
])('the Sunday of %s is %s', (now, sunday) => {
  expect(lastSunday(new Date(now)).toISOString()).toBe(sunday)
})

describe('the weekly reset', () => {
  it('empties sandboxes on Sunday, and nothing else', async () => {
    await fill()
    const session = await harness.signIn(tenant.ownerEmail)
    await resetDueSandboxes(deps())
    expect(await properties(tenant.testKey, 'sandbox')).toBe(1)
    untilSunday()
    await resetDueSandboxes(deps())
    expect(await properties(tenant.testKey, 'sandbox')).toBe(0)
    expect(await properties(tenant.adminKey, 'production')).toBe(1)
    const [rows] = await harness.sql`
      select (select count(*)::int from events where workspace_id = ${tenant.sandbox.id}) as events,
        (select count(*)::int from idempotency_keys where workspace_id = ${tenant.sandbox.id}) as answers,
        (select count(*)::int from agents where workspace_id = ${tenant.sandbox.id}) as people,
        (select count(*)::int from api_keys where workspace_id = ${tenant.sandbox.id}) as keys`
    expect(rows).toEqual({ events: 0, answers: 0, people: 1, keys: 1 })
    expect(session).toMatch(/^pb_sess_/)
  })

  it('happens once a week, also when the server was down at midnight', async () => {
    untilSunday()
    await resetDueSandboxes(deps())
    await fill()
    await resetDueSandboxes(deps())
    expect(await properties(tenant.testKey, 'sandbox')).toBe(1)
    harness.clock.advance(9 * dayMs)
    await resetDueSandboxes(deps())
    expect(await properties(tenant.testKey, 'sandbox')).toBe(0)
  })

  it('is done by one process, however many there are', async () => {
    untilSunday()
    await resetDueSandboxes(deps())
    untilSunday()
    lines.length = 0
    await Promise.all(Array.from({ length: 6 }, () => resetDueSandboxes(deps())))
    const reset = lines.map((line) => JSON.parse(line).workspace)
    expect(new Set(reset).size).toBe(reset.length)
    expect(reset).toContain(tenant.sandbox.id)
  })

  it('brings demo data back where there is any', async () => {
    await fill()
    untilSunday()
    await resetDueSandboxes(deps(true))
    expect(await properties(tenant.testKey, 'sandbox')).toBeGreaterThan(2)
  })
})

describe('a reset', () => {
  it('is refused for production', async () => {
    const options = { demoData: false, now: harness.clock.now() }
    await expect(resetSandbox(harness.sql, tenant.production, options)).rejects.toThrow('only a sandbox')
  })

  it('knows every table: those that point to others come first', async () => {
    const tables = await businessTables(harness.sql)
    expect(tables).toEqual(expect.arrayContaining(['properties', 'units', 'events', 'idempotency_keys']))
    expect(tables.indexOf('units')).toBeLessThan(tables.indexOf('properties'))
    expect(tables.filter((table) => keptTables.includes(table))).toEqual([])
  })
})
