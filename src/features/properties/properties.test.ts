import { describe, expect, it } from 'vitest'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

const minimal = { name: 'Marina Heights', type: 'apartment', location: { city: 'Dubai', country: 'AE' } }

describe('properties', () => {
  it('are created with their defaults', async () => {
    const { data, headers } = await scenario({
      post: '/v1/properties',
      body: minimal,
      status: 201,
      match: {
        name: 'Marina Heights',
        type: 'apartment',
        status: 'planning',
        location: { address: null, area: null, city: 'Dubai', country: 'AE', coordinates: null },
        media: null,
        pricing: null,
        features: [],
        units_count: 0,
        units_available: 0,
        created_at: '2026-03-01T09:00:00.000Z',
      },
      events: ['property.created'],
    })
    expect(data.id).toMatch(/^prop_/)
    expect(headers.location).toBe(`/v1/properties/${data.id}`)
    await scenario({ get: `/v1/properties/${data.id}`, status: 200, match: data })
  })
})
