import { describe, expect, it } from 'vitest'
import { useDelivering } from '../../../test/delivering.ts'
import { createProperty, createUnit } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness
const delivering = useDelivering(harness)

const read = async (query = '') => (await scenario({ get: `/v1/events${query}`, status: 200 })).data

describe('events', () => {
  it('can be read as webhooks get them, with their number', async () => {
    const { id } = await createProperty(harness)
    expect(await read(`?resource_id=${id}`)).toEqual([])
    await delivering.fanOut()
    const [event, ...rest] = await read(`?resource_id=${id}`)
    expect(rest).toEqual([])
    const now = harness.clock.now().toISOString()
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_/),
      sequence: 1,
      event: 'property.created',
      resource_id: id,
      timestamp: now,
      workspace_id: harness.tenant.production.id,
      data: expect.objectContaining({ id, name: 'Marina Heights' }),
      created_at: now,
    })
    await scenario({ get: `/v1/events/${event.id}`, status: 200, match: event })
    await scenario({
      get: `/v1/events/${event.id}?fields=sequence`,
      status: 200,
      match: { id: event.id, sequence: 1 },
    })
  })

  it('are filtered by name, record and day', async () => {
    const property = await createProperty(harness)
    const unit = await createUnit(harness, property.id)
    await scenario({ put: `/v1/units/${unit.id}`, body: { status: 'sold' }, status: 200 })
    harness.clock.advance(86_400_000)
    await scenario({ put: `/v1/units/${unit.id}`, body: { status: 'available' }, status: 200 })
    await delivering.fanOut()
    const names = async (query: string) =>
      (await read(`?resource_id=${unit.id}&${query}`)).map((e: { event: string }) => e.event)
    expect((await names('')).sort()).toEqual(['unit.created', 'unit.sold', 'unit.updated', 'unit.updated'])
    expect(await names('event=unit.sold')).toEqual(['unit.sold'])
    expect((await names('event=unit.sold,unit.created')).sort()).toEqual(['unit.created', 'unit.sold'])
    expect(await names('created_after=2026-03-02')).toEqual(['unit.updated'])
    expect(await names('created_before=2026-03-01')).toHaveLength(3)
    expect(await names('created_after=2026-03-01&created_before=2026-03-01T23:00:00Z')).toHaveLength(3)
    const [sold] = await read(`?resource_id=${unit.id}&event=unit.sold`)
    expect(sold.data).toMatchObject({ status: 'sold', previous: { status: 'available' } })
  })

  it.each([
    ['event=unit.burnt', 'event'],
    ['created_after=yesterday', 'created_after'],
    ['created_before=1', 'created_before'],
    ['after_sequence=-1', 'after_sequence'],
    ['after_sequence=x', 'after_sequence'],
    ['sort=event', 'sort'],
    ['nothing=1', 'nothing'],
  ])('are not listed with %s', async (query, wrong) => {
    await scenario({ get: `/v1/events?${query}`, status: 422, wrong: [wrong] })
  })

  it('can be followed by their numbers, page by page and by cursor', async () => {
    for (let number = 0; number < 12; number++) await createProperty(harness)
    await delivering.fanOut()
    const total = (await scenario({ get: '/v1/events', status: 200 })).body.meta.total
    const seen: number[] = []
    for (;;) {
      const page = await read(`?after_sequence=${seen.at(-1) ?? 0}&per_page=5`)
      if (page.length === 0) break
      seen.push(...page.map(({ sequence }: { sequence: number }) => sequence))
    }
    expect(seen).toEqual(Array.from({ length: total }, (_, at) => at + 1))

    const walked: number[] = []
    let next: string | undefined = `/v1/events?after_sequence=2&per_page=4&cursor=`
    while (next) {
      const { body } = await scenario({ get: next, status: 200 })
      walked.push(...body.data.map(({ sequence }: { sequence: number }) => sequence))
      next = body.links.next
    }
    expect(walked).toEqual(seen.slice(2))
    expect((await read('?after_sequence=0&order=desc&per_page=1'))[0].sequence).toBe(total)
  })

  it('of other workspaces, unknown ones and unnumbered ones are not there', async () => {
    const stranger = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'USD' })
    const { id } = await createProperty(harness, {}, stranger.adminKey)
    const [row] = await harness.sql`select id from events where resource_id = ${id}`
    const asStranger = { as: stranger.adminKey, get: `/v1/events/${row!.id}` }
    await scenario({ ...asStranger, status: 404 })
    await delivering.fanOut()
    await scenario({ ...asStranger, status: 200, match: { sequence: 1 } })
    await scenario({ get: `/v1/events/${row!.id}`, status: 404 })
    await scenario({ get: `/v1/events/nonsense`, status: 404 })
    expect(await read(`?resource_id=${id}`)).toEqual([])
  })

  it('need the scope webhooks', async () => {
    const as = await harness.createKey(harness.tenant.production, ['read:properties'])
    await scenario({ as, get: '/v1/events', status: 403 })
    await scenario({ as, get: `/v1/events/evt_1`, status: 403 })
  })
})
