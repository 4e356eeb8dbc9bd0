import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../src/app.ts'
import { endpoints } from '../../src/features/index.ts'
import {
  type CustomLimits,
  type EndpointWindow,
  endpointLimits,
  endpointWindowOf,
} from '../../src/kernel/limits/plans.ts'
import { type Tenant, useHarness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'

const harness = useHarness()
const { scenario } = harness

let professional: Tenant
let strict: App
beforeAll(async () => {
  professional = await planTenant()
  strict = await harness.buildApp(harness.sql, { requestsPerAddress: 60 })
})
afterAll(() => strict.close())

const planTenant = () =>
  harness.createTenant({ name: 'Planned', plan: 'professional', currency: 'USD', customLimits: null })

const limitHeaders = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
]

function expectLimitHeaders(headers: Record<string, unknown>): void {
  for (const name of limitHeaders) expect(headers[name], name).toBeTruthy()
  const minuteEnd = Date.parse('2026-03-01T09:01:00Z') / 1_000
  expect(Number(headers['x-ratelimit-reset']) % 60).toBe(0)
  expect(Number(headers['x-ratelimit-reset'])).toBeGreaterThanOrEqual(minuteEnd)
}

/** A moment that no other test has used. */
const nextMinute = () => harness.clock.advance(60_000 - (harness.clock.now().getTime() % 60_000))

describe('every answer carries the headers', () => {
  const path = (endpoint: { path: string }) => endpoint.path.replaceAll(/:\w+/g, 'x_1')

  it.each(endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    '%s',
    async (_, endpoint) => {
      for (const [as, limit] of [
        // Operations that need no credential count for the address, whatever was sent.
        [harness.tenant.adminKey, endpoint.scopes === 'none' ? '60' : '1000000'],
        ['pb_live_nobody', '60'],
        [null, '60'],
      ] as const) {
        const answer = await strict.servers.production.inject({
          method: endpoint.method,
          url: path(endpoint),
          headers: as === null ? {} : { authorization: `Bearer ${as}` },
          remoteAddress: '203.0.113.1',
        })
        expectLimitHeaders(answer.headers)
        // Before there is a credential, the address counts, whatever is sent along.
        expect(answer.headers['x-ratelimit-limit']).toBe(endpoint.scopes === 'none' ? '60' : limit)
      }
      nextMinute()
    },
  )

  it.each<[string, Scenario, string]>([
    ['a path that does not exist', { get: '/v1/nothing', status: 404 }, '120'],
    ['a method that does not exist', { delete: '/v1/properties', status: 405 }, '120'],
    ['a path that can not be read', { get: '/v1/%zz', status: 404 }, '1000000'],
    ['a body that is not JSON', { post: '/v1/properties', body: '{', status: 400 }, '120'],
    ['a body with wrong fields', { post: '/v1/properties', body: {}, status: 422 }, '120'],
    ['a record that does not exist', { get: '/v1/properties/prop_x', status: 404 }, '120'],
    ['a 404 without a credential', { as: null, get: '/v1/nothing', status: 404 }, '1000000'],
    ['a 405 without a credential', { as: null, delete: '/v1/properties', status: 405 }, '1000000'],
    ['the wrong host', { on: 'sandbox', get: '/v1/properties', status: 403 }, '1000000'],
    [
      'another workspace',
      { get: '/v1/properties', headers: { 'x-workspace-id': 'ws_x' }, status: 403 },
      '120',
    ],
    ['health', { as: null, get: '/healthz', status: 200 }, '1000000'],
    ['the reference', { as: null, get: '/openapi.json', status: 200 }, '1000000'],
  ])('%s', async (_, call, limit) => {
    const { headers } = await scenario({ as: professional.adminKey, ...call })
    expectLimitHeaders(headers)
    expect(headers['x-ratelimit-limit']).toBe(limit)
    nextMinute()
  })
})

describe('too many requests', () => {
  it('are refused with 429, the window and the time to wait', async () => {
    const { adminKey } = await planTenant()
    for (let i = 0; i < 25; i++) await scenario({ as: adminKey, get: '/v1/rate-limit', status: 200 })
    const { body, headers } = await scenario({ as: adminKey, get: '/v1/properties', status: 429 })
    expect(body).toEqual({
      success: false,
      error: {
        code: 'RATE_LIMIT_EXCEEDED',
        message: 'Limit "burst" reached: 25 requests in one second. Try again in 1 second.',
        retry_after: 1,
      },
    })
    expect(headers['retry-after']).toBe('1')
    expect(headers.ratelimit).toMatch(/^"burst";r=0;t=1, "minute";r=95;t=60, /)
    harness.clock.advance(1_000)
    await scenario({ as: adminKey, get: '/v1/properties', status: 200 })
  })

  it('count with what was answered 403 and 404, and not with what was refused', async () => {
    const tenant = await planTenant()
    const reader = await harness.createKey(tenant.production, ['read:leads'])
    await scenario({ as: reader, get: '/v1/properties', status: 403 })
    await scenario({ as: tenant.adminKey, get: '/v1/nothing', status: 404 })
    await scenario({ as: tenant.adminKey, delete: '/v1/properties', status: 405 })
    await scenario({
      as: tenant.adminKey,
      get: '/v1/properties',
      headers: { 'x-workspace-id': 'ws_0' },
      status: 403,
    })
    const { data } = await scenario({ as: tenant.adminKey, get: '/v1/rate-limit', status: 200 })
    expect(data.minute.used).toBe(5)
  })

  it('of an unpaid plan with a key are 403 and count for its workspace', async () => {
    const starter = await harness.createTenant({
      name: 'S',
      plan: 'starter',
      currency: 'USD',
      customLimits: null,
    })
    for (let i = 0; i < 10; i++) await scenario({ as: starter.adminKey, get: '/v1/properties', status: 403 })
    const { headers } = await scenario({ as: starter.adminKey, get: '/v1/properties', status: 429 })
    expect(headers['x-ratelimit-limit']).toBe('60')
  })

  it('follow a change of custom limits at once', async () => {
    const { adminKey, production } = await planTenant()
    await scenario({ as: adminKey, get: '/v1/rate-limit', status: 200, match: { minute: { limit: 120 } } })
    await harness.sql`update workspaces set custom_limits = '{"minute": 9000}' where id = ${production.id}`
    await expect
      .poll(
        async () => (await scenario({ as: adminKey, get: '/v1/rate-limit', status: 200 })).data.minute.limit,
      )
      .toBe(9_000)
  })

  it.each(['[]', '{"minute": 0}', '{"minute": 1.5}', '{"minute": null}', '{"minute": "9"}', '{"hour": 1}'])(
    'can not be allowed by the custom limits %s',
    async (limits) => {
      const id = professional.production.id
      await expect(
        harness.sql`update workspaces set custom_limits = ${limits}::text::jsonb where id = ${id}`,
      ).rejects.toThrow('workspaces__custom_limits__valid')
    },
  )
})

describe('operations with a limit of their own', () => {
  const windows = Map.groupBy(
    endpoints.filter((endpoint) => endpointWindowOf(endpoint)),
    (endpoint) => endpointWindowOf(endpoint)!,
  )

  it('are the ones that were promised', () => {
    const operations = (name: EndpointWindow) =>
      (windows.get(name) ?? []).map(({ method, path }) => `${method} ${path}`).sort()
    expect(operations('leads')).toEqual(['POST /v1/leads'])
    expect(operations('leads_bulk')).toEqual(['POST /v1/leads/bulk'])
    const imported = ['agents', 'leads', 'properties', 'units']
    const imports = imported.map((resource) => `POST /v1/${resource}/import`)
    expect(operations('import')).toEqual(expect.arrayContaining(imports))
    const analytics = endpoints.filter(({ path }) => path.startsWith('/v1/analytics/'))
    expect(operations('analytics')).toHaveLength(analytics.length)
  })

  it.each([...windows])('share the window %s, and leave the others their room', async (name, operations) => {
    nextMinute()
    const { limit } = endpointLimits[name]
    const customLimits = { burst: 1_000, minute: 1_000 }
    const tenant = { name: 'E', plan: 'enterprise' as const, currency: 'USD', customLimits }
    const { adminKey } = await harness.createTenant(tenant)
    // What is wrong with a request is found out after it was counted.
    const call = (at: number) => {
      const { method, path } = operations[at % operations.length]!
      const headers = { authorization: `Bearer ${adminKey}` }
      return harness.server().inject({ method, url: `${path}?wrong=1`, headers })
    }
    for (let i = 0; i < limit; i++) expect((await call(i)).statusCode).not.toBe(429)
    for (let i = 0; i < operations.length; i++) {
      const refused = await call(i)
      expect(refused.statusCode).toBe(429)
      expect(refused.json().error.message).toContain(`Limit "${name}" reached: ${limit} requests`)
      expect(refused.headers['ratelimit-policy']).toContain(`"${name}";q=${limit};w=60`)
    }
    const { data } = await scenario({ as: adminKey, get: '/v1/rate-limit', status: 200 })
    expect(data.minute.used).toBe(limit + 1)
  })
})

describe('a session', () => {
  const onPlan = (customLimits: CustomLimits | null) =>
    harness.createTenant({ name: 'S', plan: 'starter', currency: 'USD', customLimits })

  it('is what the limits of Starter are for', async () => {
    nextMinute()
    const { ownerEmail } = await onPlan(null)
    const token = await harness.signIn(ownerEmail)
    for (let second = 0; second < 6; second++) {
      for (let i = 0; i < 10; i++) await scenario({ as: token, get: '/v1/rate-limit', status: 200 })
      const { headers } = await scenario({ as: token, get: '/v1/rate-limit', status: 429 })
      expect(headers['retry-after']).toBe(second < 5 ? '1' : '55')
      harness.clock.advance(1_000)
    }
    const { body } = await scenario({ as: token, get: '/v1/rate-limit', status: 429 })
    expect(body.error).toMatchObject({
      message: 'Limit "minute" reached: 60 requests a minute. Try again in 54 seconds.',
      retry_after: 54,
    })
  })

  it('has the custom limits of its workspace', async () => {
    const { ownerEmail } = await onPlan({ minute: 77 })
    const token = await harness.signIn(ownerEmail)
    await scenario({ as: token, get: '/v1/rate-limit', status: 200, match: { minute: { limit: 77 } } })
  })
})

describe('callers without a valid credential', () => {
  const call = (url: string, remoteAddress: string, authorization?: string) =>
    strict.servers.production.inject({ url, remoteAddress, headers: authorization ? { authorization } : {} })

  it('get 60 requests a minute for their address, whatever the path', async () => {
    nextMinute()
    const ip = '198.51.100.7'
    for (let i = 0; i < 20; i++) {
      expect((await call('/v1/properties', ip)).statusCode).toBe(401)
      expect((await call('/v1/nothing', ip, 'Bearer pb_live_wrong')).statusCode).toBe(404)
      expect((await call('/oauth/token', ip)).statusCode).toBe(405)
    }
    for (const url of ['/v1/properties', '/v1/nothing', '/oauth/token']) {
      const refused = await call(url, ip, 'Bearer nonsense')
      expect(refused.statusCode).toBe(429)
      expect(refused.headers['retry-after']).toBe('60')
      expect(refused.json().error.message ?? refused.json().error_description).toContain(
        'Limit "address" reached: 60 requests a minute',
      )
    }
    expect((await call('/v1/properties', '198.51.100.8')).statusCode).toBe(401)
    expect((await call('/healthz', ip)).statusCode).toBe(200)
    expect((await call('/openapi.json', ip)).statusCode).toBe(200)
  })

  it('count for their address when they sign in, whatever they send', async () => {
    nextMinute()
    const signIn = () =>
      strict.servers.production.inject({
        method: 'POST',
        url: '/v1/sessions',
        payload: { email: 'nobody' },
        remoteAddress: '198.51.100.10',
        headers: { authorization: `Bearer ${harness.tenant.adminKey}` },
      })
    for (let i = 0; i < 60; i++) expect((await signIn()).statusCode).toBe(422)
    expect((await signIn()).json().error.message).toContain('Limit "address" reached')
  })

  it('do not use up what callers with one have at the same address', async () => {
    const ip = '198.51.100.9'
    for (let i = 0; i < 61; i++) await call('/v1/properties', ip)
    expect((await call('/v1/properties', ip)).statusCode).toBe(429)
    expect((await call('/v1/properties', ip, `Bearer ${harness.tenant.adminKey}`)).statusCode).toBe(200)
  })
})
