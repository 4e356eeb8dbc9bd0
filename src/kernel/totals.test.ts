import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { contextFor } from '../../test/context.ts'
import { createProperty, createUnit } from '../../test/fixtures.ts'
import { useHarness } from '../../test/harness.ts'
import { unitFilters } from '../features/units/queries.ts'
import { Unit } from '../features/units/schema.ts'
import { listUnits } from '../features/units/service.ts'
import { type Context, inWorkspace } from './context.ts'
import { readListQuery } from './list-query.ts'
import { type Scope, scopes } from './scopes.ts'
import { Totals } from './totals.ts'

const harness = useHarness()
const cap = 3

let propertyId: string
let errors: unknown[]
let ctx: Context
beforeAll(async () => {
  propertyId = (await createProperty(harness)).id
})
beforeEach(async () => {
  await harness.sql`delete from units`
  errors = []
  ctx = contextFor(harness, { totals: new Totals((error) => errors.push(error), cap) })
})

const totalOf = async (query: object = {}, as = ctx) => {
  const page = await inWorkspace(as, (tx) => listUnits(tx, readListQuery(Unit, unitFilters, { ...query })))
  return page.total
}
const addUnits = async (count: number, body: object = {}) => {
  for (let at = 0; at < count; at++) await createUnit(harness, propertyId, body)
}

describe('the total of a list', () => {
  it('is exact at every moment up to the cap', async () => {
    for (let count = 0; count <= cap; count++) {
      expect(await totalOf()).toBe(count)
      expect(await totalOf({ page: 2, per_page: 2 })).toBe(count)
      expect(await totalOf({ page: 9 })).toBe(count)
      expect(await totalOf({ cursor: '', per_page: 1 })).toBe(count)
      await addUnits(1)
    }
  })

  it('is counted in full the first time it is beyond the cap', async () => {
    await addUnits(cap + 3)
    expect(await totalOf()).toBe(cap + 3)
    expect(await totalOf({ page: 50, status: ['available'] })).toBe(cap + 3)
  })

  it('is remembered beyond the cap, and refreshed behind the scenes after some seconds', async () => {
    await addUnits(cap + 1)
    expect(await totalOf()).toBe(cap + 1)
    await addUnits(2)
    harness.clock.advance(5_000)
    expect(await totalOf()).toBe(cap + 1)
    harness.clock.advance(1)
    expect(await totalOf()).toBe(cap + 1)
    await vi.waitFor(async () => expect(await totalOf()).toBe(cap + 3), { timeout: 5_000 })
  })

  it('is never older than some seconds, even when nobody asked meanwhile', async () => {
    await addUnits(cap + 1)
    expect(await totalOf()).toBe(cap + 1)
    await addUnits(2)
    harness.clock.advance(60_000)
    expect(await totalOf()).toBe(cap + 3)
  })

  it('is exact again when the list has shrunk below the cap', async () => {
    await addUnits(cap + 1)
    expect(await totalOf()).toBe(cap + 1)
    await harness.sql`delete from units`
    await addUnits(1)
    harness.clock.advance(6_000)
    await vi.waitFor(async () => expect(await totalOf()).toBe(1), { timeout: 5_000 })
    await addUnits(1)
    expect(await totalOf()).toBe(2)
  })

  it('is remembered for each filter, caller and workspace on its own', async () => {
    await addUnits(cap + 1)
    await addUnits(cap + 2, { visibility: 'private', status: 'sold' })
    const granted = new Set<Scope>(scopes.filter((scope) => scope !== 'admin'))
    const plain = { ...ctx, principal: { ...ctx.principal, scopes: granted } }
    const elsewhere = {
      ...ctx,
      principal: { ...ctx.principal, workspace: { ...ctx.principal.workspace, id: 'ws_other' } },
    }
    for (let round = 0; round < 2; round++) {
      expect(await totalOf()).toBe(2 * cap + 3)
      expect(await totalOf({ status: ['sold'] })).toBe(cap + 2)
      expect(await totalOf({ status: ['available', 'sold'] })).toBe(2 * cap + 3)
      expect(await totalOf({}, plain)).toBe(cap + 1)
      expect(await totalOf({}, elsewhere)).toBe(0)
    }
  })
})

describe('refreshing a total', () => {
  const now = (seconds: number) => new Date(seconds * 1000)
  const remembered = async () => {
    const totals = new Totals((error) => errors.push(error), cap)
    await totals.exact('list', now(0), cap + 1, async () => [{ total: 10 }])
    return totals
  }

  it('happens once at a time', async () => {
    const totals = await remembered()
    const counted = Promise.withResolvers<number>()
    const count = vi.fn(() => counted.promise)
    expect(totals.known('list', now(4), count)).toBe(10)
    expect(count).not.toHaveBeenCalled()
    for (const second of [6, 7, 8]) expect(totals.known('list', now(second), count)).toBe(10)
    expect(count).toHaveBeenCalledTimes(1)
    counted.resolve(12)
    await vi.waitFor(() => expect(totals.known('list', now(8), count)).toBe(12))
    expect(totals.known('list', now(12), count)).toBe(12)
    expect(count).toHaveBeenCalledTimes(2)
  })

  it('that fails is told, and the list counted with its next page', async () => {
    const totals = await remembered()
    const failure = new Error('away')
    totals.known('list', now(6), () => Promise.reject(failure))
    await vi.waitFor(() => expect(errors).toEqual([failure]))
    expect(totals.known('list', now(6), async () => 1)).toBeUndefined()
  })

  it('that never ends does not keep an old figure alive', async () => {
    const totals = await remembered()
    const never = () => new Promise<number>(() => {})
    expect(totals.known('list', now(6), never)).toBe(10)
    expect(totals.known('list', now(16), never)).toBeUndefined()
  })
})
