import { describe, expect, it } from 'vitest'
import { createProperty, createUnit } from '../../test/fixtures.ts'
import { useHarness } from '../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

const pathOf = async (resource: string) => {
  const property = await createProperty(harness)
  if (resource === 'properties') return `/v1/properties/${property.id}`
  return `/v1/units/${(await createUnit(harness, property.id)).id}`
}
const etagAt = async (path: string) => (await scenario({ get: path, status: 200 })).headers.etag!

describe.each(['properties', 'units'])('the ETag of %s', (resource) => {
  it('is the same for the same bytes, from GET, POST and PUT', async () => {
    const path = await pathOf(resource)
    const etag = await etagAt(path)
    expect(etag).toMatch(/^"[^"]+"$/)
    expect(await etagAt(path)).toBe(etag)
    const changed = await scenario({ put: path, body: { name: 'New' }, status: 200 })
    expect(changed.headers.etag).not.toBe(etag)
    expect(await etagAt(path)).toBe(changed.headers.etag)
  })

  it('answers If-None-Match with 304 and no body until something changes', async () => {
    const path = await pathOf(resource)
    const etag = await etagAt(path)
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { text, headers } = await scenario({ get: path, headers: { 'if-none-match': tag }, status: 304 })
      expect(text).toBe('')
      expect(headers.etag).toBe(etag)
    }
    await scenario({ get: path, headers: { 'if-none-match': '"other"' }, status: 200 })
    await scenario({ get: `${path}?fields=name`, headers: { 'if-none-match': etag }, status: 200 })
    await scenario({ put: path, body: { name: 'New' }, status: 200 })
    await scenario({ get: path, headers: { 'if-none-match': etag }, status: 200 })
  })

  it('makes a PUT conditional', async () => {
    const path = await pathOf(resource)
    const etag = await etagAt(path)
    const put = (ifMatch: string, name: string, status: number) =>
      scenario({ put: path, headers: { 'if-match': ifMatch }, body: { name }, status })

    const { headers } = await put(etag, 'First', 200)
    const refused = await scenario({
      put: path,
      headers: { 'if-match': etag },
      body: { name: 'Second' },
      status: 412,
      error: { code: 'PRECONDITION_FAILED' },
      events: [],
    })
    expect(refused.headers.etag).toBeUndefined()
    await scenario({ get: path, status: 200, match: { name: 'First' } })
    await put(headers.etag!, 'Third', 200)
    await put('*', 'Fourth', 200)
    await put(`"none", ${await etagAt(path)}`, 'Fifth', 200)
    await put('"none"', 'Sixth', 412)
    await put('nonsense', 'Sixth', 412)
    await scenario({ get: path, status: 200, match: { name: 'Fifth' } })
  })

  it('of a part serves for If-Match as well, and a PUT that changes nothing keeps it', async () => {
    const path = await pathOf(resource)
    const etag = await etagAt(`${path}?fields=name`)
    const { data } = await scenario({ get: path, status: 200 })
    await scenario({ put: path, headers: { 'if-match': etag }, body: data, status: 200, events: [] })
    await scenario({ put: path, headers: { 'if-match': etag }, body: { name: 'New' }, status: 200 })
    await scenario({ put: path, headers: { 'if-match': etag }, body: { name: 'New' }, status: 412 })
  })

  it('lets one of several win who all read the same version', async () => {
    const path = await pathOf(resource)
    const headers = { authorization: `Bearer ${harness.tenant.adminKey}`, 'if-match': await etagAt(path) }
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        harness.server().inject({ method: 'PUT', url: path, headers, payload: { name: `Name ${at}` } }),
      ),
    )
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, ...Array(7).fill(412)])
  })

  it('is on lists too', async () => {
    const path = `/v1/${resource}`
    await pathOf(resource)
    const etag = await etagAt(path)
    await scenario({ get: path, headers: { 'if-none-match': etag }, status: 304 })
    await pathOf(resource)
    await scenario({ get: path, headers: { 'if-none-match': etag }, status: 200 })
  })
})

describe('a property to which a unit is added', () => {
  it('is new to who reads it, and unchanged for who changes it', async () => {
    const { id } = await createProperty(harness)
    const path = `/v1/properties/${id}`
    const etag = await etagAt(path)
    await createUnit(harness, id)
    await scenario({ get: path, headers: { 'if-none-match': etag }, status: 200, match: { units_count: 1 } })
    await scenario({ put: path, headers: { 'if-match': etag }, body: { name: 'New' }, status: 200 })
  })
})
