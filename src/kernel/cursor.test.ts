import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit } from '../../test/fixtures.ts'
import { useHarness } from '../../test/harness.ts'
import { Property } from '../features/properties/schema.ts'
import { Unit, unitStatuses } from '../features/units/schema.ts'

const harness = useHarness()
const { scenario } = harness

let propertyId: string
beforeAll(async () => {
  propertyId = (await createProperty(harness)).id
})

const idsOf = (data: { id: string }[]) => data.map(({ id }) => id)

/** Follows links.next to the end; `between` runs after each page. */
async function walk(start: string, between: () => Promise<unknown> = async () => {}): Promise<string[]> {
  const seen: string[] = []
  let url: string | undefined = start
  while (url) {
    const { body } = await scenario({ get: url, status: 200 })
    expect(body.meta.page).toBeNull()
    expect(body.links.self).toBe(url)
    seen.push(...idsOf(body.data))
    url = body.links.next
    await between()
  }
  return seen
}

const sorts = [Property, Unit].flatMap(({ plural, sorts }) =>
  Object.keys(sorts).flatMap((sort) => (['asc', 'desc'] as const).map((order) => ({ plural, sort, order }))),
)

const propertyBodies = fc.record(
  {
    name: fc.constantFrom('a', 'B', 'Ä', 'z z', '"', '1'),
    type: fc.constantFrom('villa', 'land'),
    status: fc.constantFrom('planning', 'archived', 'completed'),
    pricing: fc.record({ min_price: fc.constantFrom(0, 0.01, 9, 10, 9_999_999_999_999.99) }),
    completion_date: fc.constantFrom('2026-01-01', '2030-12-31'),
  },
  { requiredKeys: ['name', 'type', 'status'] },
)
const unitBodies = fc.record(
  {
    name: fc.constantFrom('a', 'B', 'é', 'e', '%'),
    unit_number: fc.constantFrom('1', '10', '9'),
    status: fc.constantFrom(...unitStatuses),
    bedrooms: fc.constantFrom(0, 1, 2.5),
    size: fc.record({ interior: fc.constantFrom(null, 0, 80.25) }),
    price: fc.record({ amount: fc.constantFrom(0, 0.01, 9, 1_234_567_890_123.45) }),
  },
  { requiredKeys: ['name', 'price'] },
)

describe('a cursor walk', () => {
  beforeAll(async () => {
    for (const body of fc.sample(propertyBodies, { numRuns: 12, seed: 4 })) {
      harness.clock.advance(body.name.charCodeAt(0) % 2)
      await createProperty(harness, body)
    }
    for (const body of fc.sample(unitBodies, { numRuns: 15, seed: 7 })) {
      harness.clock.advance(body.name.charCodeAt(0) % 2)
      await createUnit(harness, propertyId, body)
    }
  })

  it.each(sorts)(
    'over $plural by $sort $order goes the way of the pages',
    async ({ plural, sort, order }) => {
      const query = `/v1/${plural}?sort=${sort}&order=${order}`
      const paged = idsOf((await scenario({ get: `${query}&per_page=100`, status: 200 })).data)
      for (const perPage of [1, 2, 5, paged.length, 100]) {
        expect(await walk(`${query}&per_page=${perPage}&cursor=`), `per_page ${perPage}`).toEqual(paged)
      }
    },
  )

  it.each(sorts)('over $plural by $sort $order meets each record once while others come', async (given) => {
    const { plural, sort, order } = given
    const query = `/v1/${plural}?sort=${sort}&order=${order}`
    const before = idsOf((await scenario({ get: `${query}&per_page=100`, status: 200 })).data)
    const bodies: object[] = fc.sample<object>(plural === 'units' ? unitBodies : propertyBodies, 4)
    const walked = await walk(`${query}&per_page=4&cursor=`, async () => {
      harness.clock.advance(1)
      const body = bodies.pop()
      if (body)
        await (plural === 'units' ? createUnit(harness, propertyId, body) : createProperty(harness, body))
    })
    expect(new Set(walked).size).toBe(walked.length)
    expect(walked.filter((id) => before.includes(id))).toEqual(before)
  })

  it('keeps filters, fields and expansions on its links', async () => {
    const start = '/v1/units?status=available,sold&fields=status&expand=property&per_page=1&cursor='
    const { body } = await scenario({ get: start, status: 200 })
    expect(body.links.next).toMatch(
      /^\/v1\/units\?status=available%2Csold&fields=status&expand=property&per_page=1&cursor=.+/,
    )
    expect(body.links.first).toBe(start.replace(',', '%2C'))
    expect(body.links).not.toHaveProperty('last')
    const total = (await scenario({ get: '/v1/units?status=available,sold', status: 200 })).body.meta.total
    expect(body.meta).toEqual({ page: null, per_page: 1, total, total_pages: total })
    expect(await walk(start)).toHaveLength(total)
  })

  it('ends where the records end', async () => {
    const { body } = await scenario({ get: '/v1/units?per_page=100&cursor=', status: 200 })
    expect(body.links).not.toHaveProperty('next')
    const none = await scenario({ get: '/v1/properties?type=penthouse&cursor=', status: 200 })
    expect(none.body).toMatchObject({ data: [], meta: { total: 0, page: null } })
  })

  it.each([
    ['letters of several bytes', '🏠'.repeat(200)],
    ['control characters', '\u0001'.repeat(200)],
    ['quotes and backslashes', '\\"'.repeat(100)],
  ])('passes names of %s, however long', async (_what, name) => {
    const { id } = await createProperty(harness)
    for (let at = 0; at < 2; at++) await createUnit(harness, id, { name })
    expect(await walk(`/v1/properties/${id}/units?sort=name&per_page=1&cursor=`)).toHaveLength(2)
  })
})

describe('a cursor that was not handed out', () => {
  const encoded = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
  const first = async (query: string) => {
    const { body } = await scenario({ get: `/v1/units?${query}&per_page=1&cursor=`, status: 200 })
    return new URLSearchParams(body.links.next.split('?')[1]).get('cursor')!
  }

  it.each([
    ['is garbage', 'garbage', ''],
    ['is not base64', '%25%25%25', ''],
    ['is JSON of another kind', Buffer.from('{"id":1}').toString('base64url'), ''],
    ['is too short', encoded('created_at', 'desc', '2026-03-01T09:00:00.000Z'), ''],
    ['has an id that is no text', encoded('created_at', 'desc', '2026-03-01T09:00:00.000Z', 7), ''],
    ['has an id with NUL', encoded('created_at', 'desc', '2026-03-01T09:00:00.000Z', 'unit_\0'), ''],
    ['has a value of another type', encoded('created_at', 'desc', 5, 'unit_1'), ''],
    ['has a time that never was', encoded('created_at', 'desc', '2026-02-30T09:00:00.000Z', 'unit_1'), ''],
    ['has null where there is none', encoded('created_at', 'desc', null, 'unit_1'), ''],
    ['has null for a status', encoded('status', 'asc', null, 'unit_1'), 'sort=status'],
    ['has an unknown status', encoded('status', 'asc', "sold' or 1=1", 'unit_1'), 'sort=status'],
    ['has an amount out of range', encoded('price', 'asc', 1e300, 'unit_1'), 'sort=price'],
    ['has an object for an amount', encoded('price', 'asc', { amount: 1 }, 'unit_1'), 'sort=price'],
    ['is too long', 'A'.repeat(3_000), ''],
  ])('is refused when it %s', async (_what, cursor, query) => {
    await scenario({ get: `/v1/units?${query}&cursor=${cursor}`, status: 422, wrong: ['cursor'] })
  })

  it('is refused when it belongs to another sort or order', async () => {
    const byPrice = await first('sort=price&order=asc')
    for (const query of ['sort=price&order=desc', 'sort=size&order=asc', 'order=asc', '']) {
      await scenario({ get: `/v1/units?${query}&cursor=${byPrice}`, status: 422, wrong: ['cursor'] })
    }
  })

  it('is refused, or names a place, but never breaks anything', async () => {
    const good = await first('sort=bedrooms')
    const tampered = fc.tuple(fc.nat(good.length - 1), fc.constantFrom('A', 'z', '_', '!', '0', '=', '.'))
    await fc.assert(
      fc.asyncProperty(tampered, async ([at, character]) => {
        const cursor = good.slice(0, at) + character + good.slice(at + 1)
        const url = `/v1/units?sort=bedrooms&cursor=${encodeURIComponent(cursor)}`
        const headers = { authorization: `Bearer ${harness.tenant.adminKey}` }
        const { statusCode } = await harness.server().inject({ url, headers })
        expect([200, 422]).toContain(statusCode)
      }),
      { numRuns: 150 },
    )
    for (const cursor of [`${good}!`, `${good}=`, `!${good}`]) {
      const url = `/v1/units?sort=bedrooms&cursor=${encodeURIComponent(cursor)}`
      await scenario({ get: url, status: 422, wrong: ['cursor'] })
    }
  })
})
