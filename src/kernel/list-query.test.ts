import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit } from '../../test/fixtures.ts'
import { useHarness } from '../../test/harness.ts'
import { Property } from '../features/properties/schema.ts'
import { Unit } from '../features/units/schema.ts'

const harness = useHarness()
const { scenario } = harness

const unitCount = 7
const propertyCount = 5

// Values repeat and are missing on purpose: ties and nulls are where orders go wrong.
beforeAll(async () => {
  const types = ['land', 'villa', 'land', 'mixed_use', 'apartment']
  const statuses = ['archived', 'planning', 'completed', 'planning', 'sold_out']
  const ids: string[] = []
  for (let at = 0; at < propertyCount; at++) {
    harness.clock.advance(at % 2)
    const pricing = at % 2 ? { pricing: { min_price: 10 ** at } } : {}
    const date = at % 3 ? { completion_date: `2030-01-0${at}` } : {}
    const body = { name: `P${at % 3}`, type: types[at], status: statuses[at], ...pricing, ...date }
    ids.push((await createProperty(harness, body)).id)
  }
  const unitStatuses = ['rented', 'available', 'sold', 'available', 'off_market', 'reserved', 'available']
  for (let at = 0; at < unitCount; at++) {
    harness.clock.advance(at % 2)
    await createUnit(harness, ids[0]!, {
      name: `U${at % 3}`,
      status: unitStatuses[at],
      price: { amount: [9, 10, 100][at % 3] },
      ...(at % 2 && { unit_number: `N${at % 4}`, bedrooms: at % 4 }),
      ...(at % 3 && { size: { interior: at } }),
    })
  }
})

const idsOf = (data: { id: string }[]) => data.map(({ id }) => id)

describe('pages', () => {
  it('have 20 records and every figure unless told otherwise', async () => {
    const { body } = await scenario({ get: '/v1/units', status: 200 })
    expect(body.meta).toEqual({ page: 1, per_page: 20, total: unitCount, total_pages: 1 })
    expect(body.links).toEqual({
      self: '/v1/units',
      first: '/v1/units?page=1&per_page=20',
      last: '/v1/units?page=1&per_page=20',
    })
  })

  const kept = 'sort=name&status=available,rented,sold,off_market&fields=name'
  const keptEncoded = kept.replaceAll(',', '%2C')
  const link = (page: number) => `/v1/units?${keptEncoded}&page=${page}&per_page=2`
  it.each([
    { page: 1, holds: 2, links: { first: link(1), next: link(2), last: link(3) } },
    { page: 2, holds: 2, links: { first: link(1), prev: link(1), next: link(3), last: link(3) } },
    { page: 3, holds: 2, links: { first: link(1), prev: link(2), last: link(3) } },
    { page: 4, holds: 0, links: { first: link(1), prev: link(3), last: link(3) } },
    { page: 900_000, holds: 0, links: { first: link(1), prev: link(3), last: link(3) } },
  ])('link to each other and keep the query on page $page', async ({ page, holds, links }) => {
    const url = `/v1/units?${kept}&page=${page}&per_page=2`
    const { body } = await scenario({ get: url, status: 200 })
    expect(body.data).toHaveLength(holds)
    expect(body.meta).toEqual({ page, per_page: 2, total: 6, total_pages: 3 })
    expect(body.links).toEqual({ self: url, ...links })
    for (const target of Object.values(body.links) as string[]) await scenario({ get: target, status: 200 })
  })

  it('are one, and empty, where there is nothing', async () => {
    const { body } = await scenario({ get: '/v1/properties?type=penthouse', status: 200 })
    expect(body.data).toEqual([])
    expect(body.meta).toMatchObject({ total: 0, total_pages: 0 })
    expect(Object.keys(body.links)).toEqual(['self', 'first', 'last'])
  })

  it.each(['per_page=1', 'per_page=100'])('may have %s', async (query) => {
    await scenario({ get: `/v1/units?${query}`, status: 200 })
  })

  it.each([
    ['per_page=0', ['per_page']],
    ['per_page=101', ['per_page']],
    ['per_page=-1', ['per_page']],
    ['per_page=2.5', ['per_page']],
    ['per_page=', ['per_page']],
    ['per_page=ten&page=one', ['page', 'per_page']],
    ['page=0', ['page']],
    ['page=1&page=2', ['page']],
    ['page=99999999999999999999', ['page']],
    ['limit=5', ['limit']],
    ['order=up', ['order']],
    ['page=1&cursor=', ['cursor']],
  ])('refuse ?%s', async (query, wrong) => {
    await scenario({ get: `/v1/units?${query}`, status: 422, error: { code: 'VALIDATION_ERROR' }, wrong })
  })
})

type Record_ = Record<string, unknown> & { id: string }
const valueAt = (record: Record_, path: string) =>
  path.split('.').reduce<unknown>((value, name) => (value as Record_ | null)?.[name] ?? null, record)

/** The order as the contract has it: enums as declared, nulls last, ties by id in the same direction. */
function expectedOrder(
  records: Record_[],
  path: string,
  enumValues: readonly string[] | undefined,
  sign: 1 | -1,
) {
  const rank = (value: unknown) =>
    enumValues ? enumValues.indexOf(value as string) : (value as string | number)
  return [...records].sort((a, b) => {
    const [x, y] = [valueAt(a, path), valueAt(b, path)]
    if (x === null || y === null) {
      if (x !== y) return x === null ? 1 : -1
    } else if (x !== y) return rank(x) < rank(y) ? -sign : sign
    return a.id < b.id ? -sign : sign
  })
}

const newestFirst = ['created_at', 'updated_at', 'completion_date']
const sorts = [Property, Unit].flatMap((resource) =>
  Object.entries(resource.sorts).flatMap(([sort, path]) =>
    (['asc', 'desc', undefined] as const).map((order) => ({
      resource,
      sort,
      path,
      order,
      plural: resource.plural,
    })),
  ),
)

describe('sorting', () => {
  it('is possible by the fields of the contract, and no others', () => {
    expect(Object.keys(Property.sorts).sort()).toEqual(
      ['created_at', 'updated_at', 'name', 'status', 'type', 'min_price', 'completion_date'].sort(),
    )
    expect(Object.keys(Unit.sorts).sort()).toEqual(
      ['created_at', 'updated_at', 'name', 'unit_number', 'price', 'bedrooms', 'size', 'status'].sort(),
    )
  })

  it.each(sorts)('$plural by $sort, order $order, gives whole pages in one order', async (given) => {
    const { resource, sort, path, order } = given
    const all = (await scenario({ get: `/v1/${resource.plural}?per_page=100`, status: 200 })).data
    const field = (resource.fields as Record<string, { schema?: { enum?: string[] } }>)[path]
    const natural = newestFirst.includes(sort) ? 'desc' : 'asc'
    const sign = (order ?? natural) === 'asc' ? 1 : -1
    const expected = idsOf(expectedOrder(all, path, field?.schema?.enum, sign))

    const query = `sort=${sort}${order ? `&order=${order}` : ''}&per_page=2`
    const paged: string[] = []
    for (let page = 1; page <= Math.ceil(all.length / 2); page++) {
      paged.push(
        ...idsOf((await scenario({ get: `/v1/${resource.plural}?${query}&page=${page}`, status: 200 })).data),
      )
    }
    expect(paged).toEqual(expected)
  })

  it('is newest first unless told otherwise', async () => {
    const plain = (await scenario({ get: '/v1/units', status: 200 })).data
    const sorted = (await scenario({ get: '/v1/units?sort=created_at&order=desc', status: 200 })).data
    expect(idsOf(plain)).toEqual(idsOf(sorted))
  })

  it.each([
    ['/v1/units?sort=colour', Unit],
    ['/v1/units?sort=property_id', Unit],
    ['/v1/units?sort=price.amount', Unit],
    ['/v1/units?sort=', Unit],
    ['/v1/units?sort=name;drop%20table%20units', Unit],
    ['/v1/properties?sort=constructor', Property],
    ['/v1/properties?sort=units_count', Property],
  ])('refuses %s and names what is possible', async (get, { sorts }) => {
    const { body } = await scenario({ get, status: 422, wrong: ['sort'] })
    for (const name of Object.keys(sorts)) expect(body.error.details[0].message).toContain(name)
  })
})

describe('fields and expand', () => {
  it.each([
    ['fields=name', ['id', 'name']],
    ['fields=name,price,id', ['id', 'name', 'price']],
    ['fields=name,%20name', ['id', 'name']],
    ['fields=name&expand=property', ['id', 'name', 'property']],
    ['fields=id&expand=property,agent', ['agent', 'id', 'property']],
  ])('?%s shows %j, on lists and single records', async (query, names) => {
    const { data } = await scenario({ get: `/v1/units?${query}`, status: 200 })
    expect(data).toHaveLength(unitCount)
    for (const unit of data) expect(Object.keys(unit).sort()).toEqual(names)
    const one = await scenario({ get: `/v1/units/${data[0].id}?${query}`, status: 200 })
    expect(one.data).toEqual(data[0])
  })

  it.each([
    ['fields=colour', 'fields', 'assigned_agent'],
    ['fields=', 'fields', 'assigned_agent'],
    ['fields=name,', 'fields', 'assigned_agent'],
    ['fields=price.amount', 'fields', 'price'],
    ['fields=property', 'fields', 'property_id'],
    ['expand=owner', 'expand', 'property, agent'],
    ['expand=', 'expand', 'property, agent'],
    ['expand=__proto__', 'expand', 'property, agent'],
  ])('?%s is refused with what is possible', async (query, field, known) => {
    const details = [{ field, message: expect.stringContaining(known) }]
    const { data } = await scenario({ get: '/v1/units', status: 200 })
    for (const path of ['/v1/units', `/v1/units/${data[0].id}`]) {
      await scenario({ get: `${path}?${query}`, status: 422, error: { details } })
    }
  })

  it('expand is not a parameter where there is nothing to expand', async () => {
    await scenario({ get: '/v1/properties?expand=units', status: 422, wrong: ['expand'] })
  })
})
