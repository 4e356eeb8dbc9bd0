import { openBenchDatabase } from './data.ts'
import { type FilledProduct, startFilledProduct } from './filled.ts'
import { addAgents, addDeals, addLeads, leadId } from './leads-data.ts'
import { median, progress, type Row, type Table } from './report.ts'

const sizes = [1_000, 100_000, 1_000_000]
const requestsEach = 100

interface Probe {
  name: string
  /** The most that the largest size may take, as a multiple of the smallest. */
  goal?: number
  /** Fewer of what takes long. */
  requests?: number
  request(turn: number, size: number): { method?: string; path: string; body?: object }
}

const some = (turn: number, size: number) => 1 + ((turn * 7_919) % size)
const stages = ['contacted', 'qualified', 'viewing', 'negotiation', 'new']
const lead = (turn: number) => ({
  name: `Nora Novak ${turn}`,
  email: `nora${turn}@example.com`,
  phone: '+351 210 555 018',
  source: 'website',
  budget: { min: 200_000, max: 450_000 },
  timeline: '3_months',
})

const newestQualified = '/v1/leads?stage=qualified'
const deepest = (size: number) => `/v1/leads?sort=created_at&order=asc&per_page=20&cursor=${deepCursor(size)}`
const deepCursor = (size: number) => {
  const at = new Date(Date.UTC(2026, 0, 1) + Math.floor(size * 0.9) * 1_000)
  return Buffer.from(JSON.stringify(['created_at', 'asc', at.toISOString(), 'lead_'])).toString('base64url')
}

const probes: Probe[] = [
  {
    name: 'lead get',
    goal: 1.3,
    request: (turn, size) => ({ path: `/v1/leads/${leadId(some(turn, size))}` }),
  },
  { name: 'lead list, one stage, page 1, total', goal: 3, request: () => ({ path: newestQualified }) },
  { name: 'lead list, all, page 1, total', goal: 3, request: () => ({ path: '/v1/leads' }) },
  {
    name: 'lead list by cursor, nine tenths in',
    goal: 1.5,
    request: (_turn, size) => ({ path: deepest(size) }),
  },
  {
    name: 'lead search, one person by phone',
    goal: 5,
    request: (turn, size) => ({ path: `/v1/leads?search=${10_000_000 + some(turn, size)}` }),
  },
  {
    name: 'lead search, part of a name',
    goal: 5,
    request: (turn) => ({ path: `/v1/leads?search=${['o%20c4c', 'a%20e4d', 'd%20a87'][turn % 3]}` }),
  },
  {
    name: 'lead search, two letters that nobody has',
    requests: 10,
    request: (turn) => ({ path: `/v1/leads?search=${['zq', 'qx'][turn % 2]}` }),
  },
  { name: 'lead search, two letters, common', request: () => ({ path: '/v1/leads?search=am' }) },
  {
    name: 'agent stats of a year',
    requests: 10,
    request: (turn) => ({ path: `/v1/agents/agent_bench${turn % 50}/stats?period=year` }),
  },
  { name: 'agents list, 20 with figures', requests: 20, request: () => ({ path: '/v1/agents' }) },
  { name: 'leads by tag', requests: 10, request: () => ({ path: '/v1/leads?tags=tag7' }) },
  {
    name: 'lead create, activity, event',
    goal: 1.3,
    request: (turn) => ({ method: 'POST', path: '/v1/leads', body: lead(turn) }),
  },
  {
    name: 'lead stage change, activity, event',
    request: (turn, size) => ({
      method: 'POST',
      path: `/v1/leads/${leadId(some(turn, size))}/stage`,
      body: { stage: stages[turn % stages.length] },
    }),
  },
]

/**
 * How the time of one request grows with the number of leads in its workspace. There is a product for
 * each size, and every request goes to all of them in turn: whatever else the machine does falls on all
 * alike, and the ratio of two within one turn means something.
 */
export async function measureLeadGrowth(): Promise<Table> {
  const products: FilledProduct[] = []
  try {
    for (const size of sizes) {
      progress(`leads: making ${size}`)
      products.push(await productWith(size))
    }
    const rows: Row[] = []
    for (const probe of probes) {
      progress(`leads: ${probe.name}`)
      rows.push(rowOf(probe, await millisecondsOf(products, probe)))
    }
    return {
      title: 'Leads: milliseconds of one request, by the number of leads in the workspace',
      columns: ['', ...sizes.map((size) => size.toLocaleString('en')), 'growth', 'goal'],
      rows,
      notes: ['growth  the median of the ratios of the largest to the smallest, turn by turn'],
    }
  } finally {
    progress('')
    for (const product of products) await product.close()
  }
}

async function productWith(size: number): Promise<FilledProduct> {
  const filled = await startFilledProduct({ env: { LOG_LEVEL: 'error' } })
  const database = await openBenchDatabase(filled.product.dataDir)
  await addAgents(database.sql, filled.data.workspaceId)
  await addLeads(database.sql, filled.data.workspaceId, 1, size)
  await addDeals(database.sql, filled.data.workspaceId)
  await database.sql`checkpoint`
  await database.close()
  return filled
}

/** For every size the times of all turns. */
async function millisecondsOf(products: FilledProduct[], probe: Probe): Promise<number[][]> {
  const times: number[][] = products.map(() => [])
  const { requests = requestsEach } = probe
  // The first requests pay for plans, caches and the first count.
  const firstFew = Math.ceil(requests / 3)
  for (let turn = 0; turn < requests + firstFew; turn++) {
    for (const [at, product] of products.entries()) {
      const took = await milliseconds(product, probe.request(turn, sizes[at]!))
      if (turn >= firstFew) times[at]!.push(took)
    }
  }
  return times
}

async function milliseconds(
  { product, headers }: FilledProduct,
  { method = 'GET', path, body }: ReturnType<Probe['request']>,
): Promise<number> {
  const begin = performance.now()
  const answer = await fetch(product.origin + path, {
    method,
    headers,
    body: body ? JSON.stringify(body) : null,
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`)
  return performance.now() - begin
}

function rowOf({ name, goal }: Probe, times: number[][]): Row {
  const [smallest, largest] = [times[0]!, times.at(-1)!]
  const growth = median(largest.map((time, turn) => time / smallest[turn]!))
  const medians = times.map((each) => median(each).toFixed(2))
  const cells = [name, ...medians, growth.toFixed(2), goal ? `<= ${goal}` : '']
  return goal ? { cells, met: growth <= goal } : { cells }
}
