import { expect } from 'vitest'
import type { Environment } from '../src/kernel/context.ts'
import type { Harness } from './harness.ts'
import { expectDocumented } from './reference.ts'

/** One request and everything expected of it. The keys `get`, `post`, … hold the path. */
export interface Scenario {
  /** The bearer token; the admin key of the harness' tenant unless given, none when null. */
  as?: string | null
  on?: Environment
  get?: string
  post?: string
  put?: string
  patch?: string
  delete?: string
  headers?: Record<string, string>
  /** An object is sent as JSON, text as it is. */
  body?: unknown
  status: number
  /** What `data` holds at least. */
  match?: unknown
  /** What `error` holds at least. */
  error?: { code?: string; message?: unknown; details?: unknown }
  /** The fields named in `error.details`, in any order. */
  wrong?: string[]
  /** The names of the events recorded by it, in any order; nothing is checked where left out. */
  events?: string[]
}

export interface ScenarioAnswer {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  data: any
  text: string
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

export async function runScenario(harness: Harness, scenario: Scenario): Promise<ScenarioAnswer> {
  const method = methods.find((name) => scenario[name] !== undefined)!
  const url = scenario[method]!
  const { as = harness.tenant.adminKey, on = 'production', body } = scenario
  const before = scenario.events && (await eventIds(harness))

  const response = await harness.server(on).inject({
    method: method.toUpperCase() as 'GET',
    url,
    headers: {
      ...(as !== null && { authorization: `Bearer ${as}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...scenario.headers,
    },
    ...(body !== undefined && {
      payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    }),
  })
  const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json')
  const answer: ScenarioAnswer = {
    status: response.statusCode,
    headers: response.headers as Record<string, string>,
    body: isJson ? response.json() : undefined,
    data: isJson ? response.json().data : undefined,
    text: response.body,
  }

  expect(answer.status, `${method.toUpperCase()} ${url}: ${answer.text.slice(0, 500)}`).toBe(scenario.status)
  expect(answer.headers['x-request-id']).toMatch(/^req_/)
  expectDocumented(method, url, answer)
  if (scenario.match !== undefined) expect(answer.data).toMatchObject(scenario.match as object)
  if (scenario.error) expect(answer.body.error).toMatchObject(scenario.error)
  if (scenario.wrong) expect(fieldsOf(answer)).toEqual([...scenario.wrong].sort())
  if (before) expect(await eventNamesSince(harness, before)).toEqual([...scenario.events!].sort())
  return answer
}

const fieldsOf = (answer: ScenarioAnswer): string[] =>
  (answer.body.error.details ?? []).map((problem: { field: string }) => problem.field).sort()

const eventIds = async ({ sql }: Harness): Promise<string[]> =>
  (await sql`select id from events`).map((row) => row.id)

const eventNamesSince = async ({ sql }: Harness, before: string[]): Promise<string[]> =>
  (await sql`select event from events where not (id = any(${before}::text[])) order by event`).map(
    (row) => row.event,
  )
