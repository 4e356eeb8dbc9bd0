import { describe, expect, it } from 'vitest'
import { aProperty, createProperty } from '../../test/fixtures.ts'
import { useHarness } from '../../test/harness.ts'
import type { Scope } from './scopes.ts'

const harness = useHarness()
const { scenario } = harness

const list = '/v1/properties'
const keyOf = (scopes: Scope[]) => harness.createKey(harness.tenant.production, scopes)
const saying = (text: string) => expect.stringContaining(text)

describe('scopes', () => {
  it.each<[Scope, number, number]>([
    ['read:properties', 200, 403],
    ['write:properties', 200, 201],
    ['admin', 200, 201],
    ['read:leads', 403, 403],
    ['write:leads', 403, 403],
    ['read:agents', 403, 403],
    ['write:agents', 403, 403],
    ['read:analytics', 403, 403],
    ['webhooks', 403, 403],
  ])('%s reads properties and units with %d and writes them with %d', async (scope, reads, writes) => {
    const as = await keyOf([scope])
    const { id } = await createProperty(harness)
    const unit = { property_id: id, name: 'A', price: { amount: 1 } }
    const [read, write] = ['read:properties', 'write:properties'].map((needed) => ({
      message: saying(needed),
    }))
    for (const get of [list, `${list}/${id}`, `${list}/${id}/units`, '/v1/units']) {
      await scenario({ as, get, status: reads, ...(reads === 403 && { error: read! }) })
    }
    const refused = writes === 403 && { error: write!, events: [] }
    await scenario({ as, post: list, body: aProperty, status: writes, ...refused })
    await scenario({ as, post: '/v1/units', body: unit, status: writes, ...refused })
    const changes = writes === 201 ? 200 : 403
    await scenario({ as, put: `${list}/${id}`, body: { name: 'New' }, status: changes, ...refused })
    await scenario({ as, delete: `${list}/${id}`, status: changes, ...refused })
  })
})
