import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, createUnit, eventsOf } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

let propertyId: string
beforeAll(async () => {
  propertyId = (await createProperty(harness)).id
})

const item = (body: object = {}) => ({ name: 'Amina', email: 'amina@example.com', ...body })

describe('creating many leads', () => {
  it('gives each what a single one gets: score, activity and events', async () => {
    const body = item({
      assigned_agent: harness.tenant.ownerId,
      interested_properties: [propertyId],
      phone: '1',
    })
    const single = (await scenario({ post: '/v1/leads', body, status: 201 })).data
    const { body: answer } = await scenario({
      post: '/v1/leads/bulk',
      body: { leads: [body, item({ email: 'two@example.com' })] },
      status: 201,
      events: ['lead.assigned', 'lead.created', 'lead.created'],
    })
    expect(answer.meta).toEqual({ total: 2, created: 2, failed: 0 })
    const [first, second] = answer.data.created
    expect(first).toEqual({ ...single, id: first.id })
    expect(second).toMatchObject({ stage: 'new', source: 'api' })
    expect((await scenario({ get: `/v1/leads/${first.id}`, status: 200 })).data).toEqual(first)
    const activity = await scenario({ get: `/v1/leads/${first.id}/activity`, status: 200 })
    expect(activity.data.map(({ type }: { type: string }) => type).sort()).toEqual(['assignment', 'created'])
    expect((await eventsOf(harness, first.id)).map(({ event }) => event).sort()).toEqual([
      'lead.assigned',
      'lead.created',
    ])
  })

  it('fails items alone', async () => {
    const hidden = await createUnit(harness, propertyId, { visibility: 'private' })
    const as = await harness.createKey(harness.tenant.production, ['write:leads'])
    const leads = [
      item(),
      item({ email: 'nobody' }),
      item({ status: 'new' }),
      item({ assigned_agent: 'agent_nobody' }),
      item({ interested_properties: [propertyId, hidden.id, 'prop_nowhere'] }),
      item({ budget: { min: 5, max: 1 } }),
    ]
    const { data } = await scenario({ as, post: '/v1/leads/bulk', body: { leads }, status: 207 })
    expect(data.created).toHaveLength(1)
    const failed = data.failed.map((one: { index: number; details: { field: string }[] }) => [
      one.index,
      ...one.details.map(({ field }) => field),
    ])
    expect(failed).toEqual([
      [1, 'email'],
      [2, 'status'],
      [3, 'assigned_agent'],
      [4, 'interested_properties[1]', 'interested_properties[2]'],
      [5, 'budget.min'],
    ])
    const wrong = ['leads[0].email']
    await scenario({
      as,
      post: '/v1/leads/bulk',
      body: { leads: [item({ email: 'x' })] },
      status: 422,
      wrong,
    })
  })
})
