import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit, insertTeam, inviteGuest } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

type Asker = { as: string; headers?: Record<string, string> }
const askers: Record<string, Asker> = {}
const ids: Record<string, string> = {}
let propertyId: string

const unitNames = ['public', 'agents', 'team', 'teamOfNobody', 'private', 'privateOfMate']

// Who sees what: the rule of the contract, written out.
const sights: Record<string, string[]> = {
  'an admin key': unitNames,
  'a key without admin': ['public', 'agents', 'team', 'teamOfNobody'],
  'an owner': unitNames,
  'an admin': unitNames,
  'a key without admin of an owner elsewhere': ['public', 'agents', 'team', 'teamOfNobody'],
  'the assigned agent': ['public', 'agents', 'team'],
  'an agent of the same team': ['public', 'agents', 'team'],
  'a viewer of the same team': ['public', 'agents', 'team'],
  'an agent of another team': ['public', 'agents'],
  'an agent without a team': ['public', 'agents'],
}

beforeAll(async () => {
  const workspace = harness.tenant.production
  const [north, south] = [
    await insertTeam(harness, workspace.id, 'North'),
    await insertTeam(harness, workspace.id, 'South'),
  ]
  const seller = await inviteGuest(harness, 'agent', north)
  const owner = await inviteGuest(harness, 'owner')
  const plainKey = await harness.createKey(owner.home.production, ['read:properties'], owner.home.ownerId)
  Object.assign(askers, {
    'an admin key': { as: harness.tenant.adminKey },
    'a key without admin': { as: await harness.createKey(workspace, ['write:properties', 'read:agents']) },
    'an owner': owner.asGuest,
    'an admin': (await inviteGuest(harness, 'admin')).asGuest,
    'a key without admin of an owner elsewhere': { ...owner.asGuest, as: plainKey },
    'the assigned agent': seller.asGuest,
    'an agent of the same team': (await inviteGuest(harness, 'agent', north)).asGuest,
    'a viewer of the same team': (await inviteGuest(harness, 'viewer', north)).asGuest,
    'an agent of another team': (await inviteGuest(harness, 'agent', south)).asGuest,
    'an agent without a team': (await inviteGuest(harness, 'agent')).asGuest,
  })
  propertyId = (await createProperty(harness)).id
  const units = [
    { name: 'public', visibility: 'public' },
    { name: 'agents', visibility: 'agents', status: 'sold' },
    { name: 'team', visibility: 'team', assigned_agent: seller.agentId },
    { name: 'teamOfNobody', visibility: 'team', status: 'reserved' },
    { name: 'private', visibility: 'private' },
    { name: 'privateOfMate', visibility: 'private', assigned_agent: seller.agentId },
  ]
  for (const unit of units) ids[unit.name] = (await createUnit(harness, propertyId, unit)).id
})

const namesOf = (data: { name: string }[]) => data.map(({ name }) => name).sort()
const availableOf = (names: string[]) => names.filter((name) => !['agents', 'teamOfNobody'].includes(name))

describe.each(Object.entries(sights))('%s', (who, seen) => {
  it('finds by id what they may see, and nothing else', async () => {
    for (const [name, id] of Object.entries(ids)) {
      await scenario({ ...askers[who]!, get: `/v1/units/${id}`, status: seen.includes(name) ? 200 : 404 })
    }
  })

  it('gets lists and totals of what they may see', async () => {
    for (const path of [
      '/v1/units',
      `/v1/properties/${propertyId}/units`,
      `/v1/units?property_id=${propertyId}`,
    ]) {
      const { data, body } = await scenario({ ...askers[who]!, get: path, status: 200 })
      expect(namesOf(data), path).toEqual([...seen].sort())
      expect(body.meta.total).toBe(seen.length)
    }
    const { body } = await scenario({ ...askers[who]!, get: '/v1/units?per_page=1', status: 200 })
    expect(body.meta).toMatchObject({ total: seen.length, total_pages: seen.length })
    const hidden = await scenario({ ...askers[who]!, get: '/v1/units?visibility=private,team', status: 200 })
    expect(hidden.body.meta.total).toBe(seen.length - 2)
  })

  it('walks with a cursor over what they may see', async () => {
    const walked = []
    let url: string | undefined = '/v1/units?cursor=&per_page=1'
    while (url) {
      const { data, body } = await scenario({ ...askers[who]!, get: url, status: 200 })
      walked.push(...data)
      url = body.links.next
    }
    expect(namesOf(walked)).toEqual([...seen].sort())
  })

  it('has units_count and units_available of what they may see', async () => {
    const counts = { units_count: seen.length, units_available: availableOf(seen).length }
    await scenario({ ...askers[who]!, get: `/v1/properties/${propertyId}`, status: 200, match: counts })
    await scenario({ ...askers[who]!, get: '/v1/properties', status: 200, match: [counts] })
  })
})

describe('a unit that the caller may not see', () => {
  it('can be neither changed nor deleted, exactly as if it did not exist', async () => {
    const asker = askers['a key without admin']!
    const unknown = `unit_${'0'.repeat(26)}`
    for (const request of [{ method: 'put', body: { name: 'Mine' } }, { method: 'delete' }]) {
      const { method, ...body } = request
      const refused = { ...asker, ...body, status: 404, events: [] }
      const hidden = await scenario({ ...refused, [method]: `/v1/units/${ids.private}` })
      expect(hidden.text).toBe((await scenario({ ...refused, [method]: `/v1/units/${unknown}` })).text)
    }
    await scenario({ get: `/v1/units/${ids.private}`, status: 200, match: { name: 'private' } })
  })

  it('appears at once when its visibility or its agent changes', async () => {
    const asker = askers['an agent of the same team']!
    const path = `/v1/units/${ids.teamOfNobody}`
    await scenario({ ...asker, get: path, status: 404 })
    const { data } = await scenario({ get: `/v1/units/${ids.team}`, status: 200 })
    await scenario({ put: path, body: { assigned_agent: data.assigned_agent }, status: 200 })
    await scenario({ ...asker, get: path, status: 200 })
    await scenario({ put: path, body: { assigned_agent: null }, status: 200 })
    await scenario({ ...asker, get: path, status: 404 })
  })
})

describe('a person in a workspace that is not their own', () => {
  it.each([
    ['an agent of the same team', 403],
    ['a viewer of the same team', 403],
    ['an admin', 201],
  ] as const)('may write as %s only as far as the role goes: %d', async (who, status) => {
    const body = { name: 'Guest House', type: 'land', location: { city: 'Dubai', country: 'AE' } }
    await scenario({ ...askers[who]!, post: '/v1/properties', body, status })
  })
})
