import type { BenchData } from './data.ts'
import { connections, type LoadRequest } from './load.ts'

/** The operations that are measured. The bare servers know the same addresses. */
export interface Operation {
  name: string
  /** The least share of the bare Fastify route's requests. */
  goal: number
  /** One request of a connection. `turn` counts up; the ids are the connection's own. */
  request(ids: { property: string; unit: string }, turn: number): LoadRequest
}

const read = (path: string): LoadRequest => ({ method: 'GET', path })
const write = (method: 'POST' | 'PUT', path: string, body: object): LoadRequest => ({
  method,
  path,
  body: JSON.stringify(body),
})

// What is changed differs from turn to turn, or there would be no change to record.
const changedAmount = (turn: number) => 500_000 + turn

// The reads go first: the writes make the tables grow.
export const operations: Operation[] = [
  { name: 'property get', goal: 0.7, request: ({ property }) => read(`/v1/properties/${property}`) },
  { name: 'property list of 20, total', goal: 0.7, request: () => read('/v1/properties') },
  { name: 'unit get', goal: 0.7, request: ({ unit }) => read(`/v1/units/${unit}`) },
  {
    name: 'unit list of 20, total (one of 200 properties)',
    goal: 0.7,
    request: ({ property }) => read(`/v1/units?property_id=${property}`),
  },
  { name: 'unit list of 20, total (all 20,000)', goal: 0.7, request: () => read('/v1/units') },
  {
    name: 'property update, event',
    goal: 0.5,
    request: ({ property }, turn) =>
      write('PUT', `/v1/properties/${property}`, { pricing: { max_price: changedAmount(turn) } }),
  },
  {
    name: 'unit update, event',
    goal: 0.5,
    request: ({ unit }, turn) =>
      write('PUT', `/v1/units/${unit}`, { price: { amount: changedAmount(turn) } }),
  },
  {
    name: 'property create, event',
    goal: 0.5,
    request: (_ids, turn) =>
      write('POST', '/v1/properties', {
        name: `Harbour View ${turn}`,
        type: 'apartment',
        status: 'planning',
        location: { address: '12 Harbour Road', area: 'Marina', city: 'Dubai', country: 'AE' },
        description: 'Two towers on the waterfront, ten minutes from the old port.',
        pricing: { currency: 'EUR', min_price: 250_000, max_price: 1_200_000 },
        features: ['pool', 'gym'],
        completion_date: '2027-06-30',
      }),
  },
  {
    name: 'unit create, event',
    goal: 0.5,
    request: ({ property }, turn) =>
      write('POST', '/v1/units', {
        property_id: property,
        name: `Tower B, unit ${turn}`,
        unit_number: `B-${turn}`,
        type: '2BR Apartment',
        bedrooms: 2,
        bathrooms: 2.5,
        size: { interior: 96.5 },
        price: { amount: 420_000, currency: 'EUR' },
        features: ['balcony', 'sea_view'],
        gallery: ['https://cdn.example.com/marina/a/1.jpg'],
      }),
  },
]

export const reads = operations.filter(
  ({ request }) => request({ property: '', unit: '' }, 0).method === 'GET',
)

// More than a connection gets answered in a round.
const turns = 100

/**
 * The requests of every connection in one run. No two connections touch the same record, so that none
 * waits for another; no two runs send the same values, so that every update changes something.
 */
export function requestsOf(operation: Operation, data: BenchData, run: number): LoadRequest[][] {
  return Array.from({ length: connections }, (_, connection) => {
    const own = (ids: string[]) => ids.filter((_, index) => index % connections === connection)
    const [properties, units] = [own(data.propertyIds), own(data.unitIds)]
    return Array.from({ length: turns }, (_, index) => {
      const turn = run * turns + index
      const ids = { property: properties[turn % properties.length]!, unit: units[turn % units.length]! }
      return operation.request(ids, turn)
    })
  })
}
