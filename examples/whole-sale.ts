/*
 * A whole sale, from the project to the invoice, with fetch alone. Prints each call and each event that
 * a subscriber would get of it.
 *
 *   npm start                                   # in another terminal; prints the key once
 *   PLOTBASE_KEY=pb_live_… npm run example
 *
 * PLOTBASE_URL is http://127.0.0.1:3000 unless given.
 */

const url = process.env.PLOTBASE_URL ?? 'http://127.0.0.1:3000'
const key = process.env.PLOTBASE_KEY
if (!key) {
  console.error('Set PLOTBASE_KEY to the live key that the first start printed.')
  process.exit(1)
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answer = any

async function call(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    body: body ? JSON.stringify(body) : null,
  })
  const answer = (await response.json()) as Answer
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer.error)}`)
  return answer
}

let lastSeen = (await call('GET', '/v1/events?per_page=1')).data[0]?.sequence ?? 0

/** Events get their number a moment after the change, so those of a step are waited for. */
async function tellEvents(expected: number): Promise<void> {
  for (let told = 0, tries = 0; told < expected && tries < 100; tries++) {
    const { data } = await call('GET', `/v1/events?after_sequence=${lastSeen}&per_page=100`)
    for (const event of data) {
      const before = event.data.previous ? `  was ${JSON.stringify(event.data.previous)}` : ''
      console.log(
        `      ${String(event.sequence).padStart(5)}  ${event.event.padEnd(22)} ${event.resource_id}${before}`,
      )
      lastSeen = event.sequence
      told++
    }
    if (told < expected) await new Promise((resume) => setTimeout(resume, 50))
  }
}

async function step(
  title: string,
  method: string,
  path: string,
  body: object | undefined,
  events: number,
): Promise<Answer> {
  console.log(`\n${title}\n   ${method} ${path}${body ? ` ${JSON.stringify(body)}` : ''}`)
  const { data } = await call(method, path, body)
  await tellEvents(events)
  return data
}

const mark = Date.now().toString(36)

const property = await step(
  'A new project',
  'POST',
  '/v1/properties',
  { name: 'Harbour Point', type: 'apartment', location: { area: 'Docks', city: 'Lisbon', country: 'PT' } },
  1,
)
const unit = await step(
  'Its first apartment',
  'POST',
  '/v1/units',
  {
    property_id: property.id,
    name: 'Harbour Point 3A',
    bedrooms: 2,
    price: { amount: 420000, currency: 'EUR' },
  },
  1,
)
const team = await step('A team', 'POST', '/v1/teams', { name: 'Docks' }, 0)
const agent = await step(
  'An agent, who gets an invitation',
  'POST',
  '/v1/agents',
  {
    name: 'Sofia Reis',
    email: `sofia.${mark}@example.com`,
    team_id: team.id,
    commission: { tier: 'senior', rate: 0.03 },
  },
  1,
)
const lead = await step(
  'Somebody asks about the apartment',
  'POST',
  '/v1/leads',
  {
    name: 'Daniel Okafor',
    email: `daniel.${mark}@example.com`,
    phone: '+351 910 555 018',
    source: 'website',
    assigned_agent: agent.id,
    interested_properties: [unit.id],
    budget: { min: 380000, max: 450000, currency: 'EUR' },
    timeline: '3_months',
  },
  2,
)
const path = `/v1/leads/${lead.id}`
await step('The agent calls', 'POST', `${path}/stage`, { stage: 'contacted', reason: 'Called back' }, 1)
await step(
  'and keeps a note',
  'POST',
  `${path}/notes`,
  { content: 'Can visit on Saturday.', type: 'call_summary' },
  0,
)
await step(
  'A viewing is arranged',
  'PUT',
  path,
  { stage: 'viewing', next_follow_up: '2030-01-05T10:00:00Z' },
  2,
)
await step('They negotiate', 'POST', `${path}/stage`, { stage: 'negotiation' }, 1)
await step(
  'and agree',
  'POST',
  `${path}/won`,
  { property_id: unit.id, deal_value: 412500, notes: 'Ten percent down.' },
  5,
)
const [deal] = (await call('GET', `/v1/deals?lead_id=${lead.id}`)).data
await step('The contract is signed', 'POST', `/v1/deals/${deal.id}/close`, undefined, 4)

const [invoice] = (await call('GET', `/v1/invoices?deal_id=${deal.id}`)).data
const [commission] = (await call('GET', `/v1/commissions?deal_id=${deal.id}`)).data
const { data: stats } = await call('GET', `/v1/agents/${agent.id}/stats`)
const { data: activity } = await call('GET', `${path}/activity`)

console.log(`\nInvoice ${invoice.number}: ${invoice.amount} ${invoice.currency}`)
console.log(`Commission of ${agent.name}: ${commission.amount} ${commission.currency}, ${commission.status}`)
console.log(`Their month: ${JSON.stringify(stats)}`)
console.log('\nWhat happened to the lead, newest first:')
for (const entry of activity)
  console.log(`   ${entry.timestamp}  ${entry.type.padEnd(13)} ${entry.description}`)
