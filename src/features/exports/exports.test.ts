import { once } from 'node:events'
import { get } from 'node:http'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { newId } from '../../kernel/ids.ts'
import { Property } from '../properties/schema.ts'
import { Unit } from '../units/schema.ts'

const harness = useHarness()
const { scenario } = harness

const rowsOf = (text: string): Record<string, string>[] => parse(text, { columns: true })

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
let units: any[]
let propertyId: string
beforeAll(async () => {
  const property = await createProperty(harness, {
    name: '=HYPERLINK("http://evil.example")',
    location: { city: 'Dubai; "old"', country: 'AE', coordinates: { lat: -1.5, lng: -55.25 } },
    media: { gallery: [], cover: null },
    features: ['a|b', 'c\\d', '[]'],
    description: 'two\nlines, and a "quote"',
  })
  propertyId = property.id
  units = []
  for (const [name, body] of Object.entries({
    '@sum': { price: { amount: 7.5 }, features: ['x', 'y'] },
    plain: { status: 'sold', unit_number: '-12', external_id: '+7' },
    hidden: { visibility: 'private' },
  })) {
    harness.clock.advance(1_000)
    units.push(await createUnit(harness, propertyId, { name, ...body }))
  }
})

describe('an export as CSV', () => {
  it('has a column for every field, nested ones with dots', async () => {
    const { text, headers } = await scenario({ get: '/v1/units/export', status: 200 })
    expect(headers['content-type']).toMatch(/^text\/csv/)
    expect(headers['content-disposition']).toBe('attachment; filename="units-2026-03-01.csv"')
    const rows = rowsOf(text)
    expect(Object.keys(rows[0]!)).toEqual(Unit.columns.map(({ path }) => path.join('.')))
    expect(rows.map((row) => row.id)).toEqual(units.map(({ id }) => id).reverse())
    expect(rows[2]).toMatchObject({
      'price.amount': '7.5',
      'price.currency': 'USD',
      features: 'x|y',
      'size.interior': '',
      created_at: units[0].created_at,
    })
  })

  it('keeps spreadsheets from computing what was typed into a field', async () => {
    const [property] = rowsOf((await scenario({ get: '/v1/properties/export', status: 200 })).text)
    expect(property!.name).toBe(`'=HYPERLINK("http://evil.example")`)
    const { text } = await scenario({ get: '/v1/units/export', status: 200 })
    expect(
      rowsOf(text).map(({ name, unit_number, external_id }) => [name, unit_number, external_id]),
    ).toEqual([
      ['hidden', '', ''],
      ['plain', "'-12", "'+7"],
      ["'@sum", '', ''],
    ])
  })

  it('leaves numbers as they are, and escapes what separates items', async () => {
    const [property] = rowsOf((await scenario({ get: '/v1/properties/export', status: 200 })).text)
    expect(property).toMatchObject({
      'location.coordinates.lng': '-55.25',
      'location.city': 'Dubai; "old"',
      features: 'a\\|b|c\\\\d|[]',
      'media.gallery': '[]',
      'media.floor_plans': '',
      description: 'two\nlines, and a "quote"',
    })
  })

  it('has a header even where there is nothing', async () => {
    const { text } = await scenario({ get: '/v1/properties/export?type=land', status: 200 })
    expect(text).toBe(`${Property.columns.map(({ path }) => path.join('.')).join(',')}\r\n`)
  })
})

describe('an export as JSON', () => {
  it('shows the records as the list does', async () => {
    const list = await scenario({ get: '/v1/units', status: 200 })
    const { body, headers } = await scenario({ get: '/v1/units/export?format=json', status: 200 })
    expect(headers['content-disposition']).toContain('.json"')
    expect(body).toEqual({ success: true, data: list.data })
  })

  it('can have a line for each record', async () => {
    const list = await scenario({ get: '/v1/units', status: 200 })
    const { text, headers } = await scenario({ get: '/v1/units/export?format=ndjson', status: 200 })
    expect(headers['content-type']).toMatch(/^application\/x-ndjson/)
    const lines = text.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(list.data)
  })

  it('is an empty list where there is nothing', async () => {
    const { body } = await scenario({ get: '/v1/units/export?format=json&status=rented', status: 200 })
    expect(body.data).toEqual([])
  })
})

describe('an export', () => {
  it("takes the list's filters, sort and fields", async () => {
    const one = await scenario({ get: '/v1/units/export?format=json&status=sold', status: 200 })
    expect(one.data).toEqual([units[1]])
    const sorted = await scenario({
      get: '/v1/units/export?format=json&sort=name&order=asc&fields=name',
      status: 200,
    })
    expect(sorted.data).toEqual([0, 2, 1].map((at) => ({ id: units[at].id, name: units[at].name })))
    const csv = await scenario({ get: '/v1/units/export?fields=price', status: 200 })
    expect(csv.text.split('\r\n')[0]).toBe('id,price.amount,price.currency')
  })

  it('leaves out what the caller may not see', async () => {
    const as = await harness.createKey(harness.tenant.production, ['read:properties'])
    const { data } = await scenario({ as, get: '/v1/units/export?format=json', status: 200 })
    expect(data.map(({ name }: { name: string }) => name)).toEqual(['plain', '@sum'])
    const properties = await scenario({ as, get: '/v1/properties/export?format=json', status: 200 })
    expect(properties.data[0].units_count).toBe(2)
  })

  it('holds nothing of another workspace', async () => {
    const other = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'EUR' })
    const { data } = await scenario({
      as: other.adminKey,
      get: '/v1/units/export?format=json',
      status: 200,
    })
    expect(data).toEqual([])
  })

  it.each(['format=xml', 'page=2', 'per_page=5', 'cursor=', 'expand=property', 'status=gone'])(
    'refuses %s',
    async (query) => {
      await scenario({ get: `/v1/units/export?${query}`, status: 422, wrong: [query.split('=')[0]!] })
    },
  )

  it('answers HEAD without reading anything', async () => {
    const answer = await harness.server().inject({
      method: 'HEAD',
      url: '/v1/units/export',
      headers: { authorization: `Bearer ${harness.tenant.adminKey}` },
    })
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toBe('')
  })
})

describe('a large export', () => {
  const count = 20_000
  beforeAll(async () => {
    const { sql, clock, tenant } = harness
    const rows = Array.from({ length: count }, (_, at) => ({
      workspace_id: tenant.production.id,
      ...Unit.toRow({ ...units[0], id: newId('unit', clock.now()), name: `Large ${at}`, type: 'large' }),
    }))
    for (let from = 0; from < count; from += 1_000)
      await sql`insert into units ${sql(rows.slice(from, from + 1_000) as never)}`
    await harness.server().listen({ host: '127.0.0.1', port: 0 })
  })

  const address = () => {
    const { port } = harness.server().server.address() as { port: number }
    return `http://127.0.0.1:${port}/v1/units/export?format=ndjson&fields=name`
  }
  const headers = () => ({ authorization: `Bearer ${harness.tenant.adminKey}` })

  const cursorsOpen = async () =>
    (
      await harness.sql`
        select count(*)::int as n from pg_stat_activity
        where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`
    )[0]!.n
  const untilQuiet = async () => {
    while ((await cursorsOpen()) > 0) await new Promise((resume) => setTimeout(resume, 20))
  }

  it('comes whole, from one moment, whatever changes meanwhile', async () => {
    const request = get(address(), { headers: headers() })
    const [response] = await once(request, 'response')
    const before = count + units.length
    // The answer has begun, so the snapshot is taken; most of it is still to be read.
    await harness.sql`delete from units where type = 'large' and name like '%7'`
    let lines = 0
    for await (const bytes of response) lines += String(bytes).split('\n').length - 1
    expect(lines).toBe(before)
  })

  it('ends its query when the caller goes away', async () => {
    const request = get(address(), { headers: headers() })
    const [response] = await once(request, 'response')
    await once(response, 'data')
    response.pause()
    expect(await cursorsOpen()).toBe(1)
    request.destroy()
    await untilQuiet()
  })

  it('leaves connections for others: too many at once are asked to wait', async () => {
    const begun = []
    for (let at = 0; at < 2; at++) {
      const request = get(address(), { headers: headers() })
      const [response] = await once(request, 'response')
      response.pause()
      begun.push(request)
    }
    await scenario({ get: '/v1/units/export', status: 503, error: { code: 'UNAVAILABLE' } })
    await scenario({ get: '/v1/units?per_page=1', status: 200 })
    for (const request of begun) request.destroy()
    await untilQuiet()
    await scenario({ get: '/v1/units/export?status=sold', status: 200 })
  })
})
