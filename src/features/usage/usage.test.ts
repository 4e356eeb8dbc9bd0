import { describe, expect, it } from 'vitest'
import { useHarness } from '../../../test/harness.ts'
import { forgetOldUsage } from './queries.ts'

const harness = useHarness()
const { scenario } = harness

const planTenant = (plan: 'professional' | 'enterprise') =>
  harness.createTenant({ name: 'Planned', plan, currency: 'USD', customLimits: null })

describe('the rate limit', () => {
  it('shows fresh figures, the request itself included', async () => {
    const { adminKey } = await planTenant('professional')
    await scenario({ as: adminKey, get: '/v1/properties', status: 200 })
    const { data, headers } = await scenario({ as: adminKey, get: '/v1/rate-limit', status: 200 })
    expect(data).toEqual({
      plan: 'professional',
      minute: { limit: 120, used: 2, remaining: 118, reset: '2026-03-01T09:01:00.000Z' },
      daily: { limit: 50_000, used: 2, remaining: 49_998, reset: '2026-03-02T00:00:00.000Z' },
      burst: { limit: 25, used: 2, remaining: 23, reset: '2026-03-01T09:00:01.000Z' },
    })
    expect(headers['x-ratelimit-remaining']).toBe('118')
  })

  it('has no daily limit on Enterprise', async () => {
    const { adminKey } = await planTenant('enterprise')
    const { data } = await scenario({ as: adminKey, get: '/v1/rate-limit', status: 200 })
    expect(data).toMatchObject({ plan: 'enterprise', daily: { limit: null, used: 1, remaining: null } })
  })

  it('is open to any valid credential', async () => {
    const key = await harness.createKey(harness.tenant.production, ['webhooks'])
    await scenario({ as: key, get: '/v1/rate-limit', status: 200 })
    await scenario({ as: null, get: '/v1/rate-limit', status: 401 })
  })
})

describe("the day's count", () => {
  it('survives a restart and reaches the processes beside it', async () => {
    const { adminKey } = await planTenant('professional')
    const usedAt = async (app: typeof harness.app) =>
      (
        await app.servers.production.inject({
          url: '/v1/rate-limit',
          headers: { authorization: `Bearer ${adminKey}` },
        })
      ).json().data.daily.used
    const beside = await harness.buildApp()
    for (let i = 1; i <= 5; i++) expect(await usedAt(harness.app)).toBe(i)
    await harness.app.usage.flush()
    expect(await usedAt(beside)).toBe(1)
    await beside.close()

    const restarted = await harness.buildApp()
    expect(await usedAt(restarted)).toBe(7)
    await restarted.usage.flush()
    expect(await usedAt(harness.app)).toBe(6)
    await harness.app.usage.flush()
    expect(await usedAt(harness.app)).toBe(9)
    await restarted.close()
  })

  it('is not lost when a write fails', async () => {
    const { adminKey, production } = await planTenant('professional')
    await scenario({ as: adminKey, get: '/v1/rate-limit', status: 200 })
    await harness.sql`alter table usage_days rename to usage_away`
    await expect(harness.app.usage.flush()).rejects.toThrow('usage_days')
    await harness.sql`alter table usage_away rename to usage_days`
    await harness.app.usage.flush()
    const [row] = await harness.sql`select requests from usage_days where workspace_id = ${production.id}`
    expect(row!.requests).toBe(1)
  })

  it('starts again at midnight, while the record keeps both days', async () => {
    const { adminKey } = await planTenant('professional')
    harness.clock.advance(Date.parse('2026-03-01T23:59:59.999Z') - harness.clock.now().getTime())
    await scenario({ as: adminKey, get: '/v1/rate-limit', status: 200, match: { daily: { used: 1 } } })
    harness.clock.advance(1)
    await scenario({ as: adminKey, get: '/v1/rate-limit', status: 200, match: { daily: { used: 1 } } })
    await harness.app.usage.flush()
    const { data } = await scenario({ as: adminKey, get: '/v1/usage', status: 200 })
    expect(data.map(({ date, requests }: { date: string; requests: number }) => [date, requests])).toEqual([
      ['2026-03-02', 1],
      ['2026-03-01', 1],
    ])
  })
})

describe('the usage record', () => {
  it('has a line for each day, credential and route, and filters by each', async () => {
    const { adminKey, production } = await planTenant('professional')
    // Keys of one moment have no order; the later one stands second in the record.
    harness.clock.advance(1)
    const other = await harness.createKey(production, ['read:properties'])
    const [first, second] = await harness.sql`
      select id from api_keys where workspace_id = ${production.id} order by created_at, id`
    for (let i = 0; i < 3; i++) await scenario({ as: adminKey, get: '/v1/properties?page=2', status: 200 })
    await scenario({ as: other, get: '/v1/properties/prop_secret', status: 404 })
    await scenario({ as: other, get: '/v1/secret-path', status: 404 })
    await harness.app.usage.flush()
    harness.clock.advance(86_400_000)
    await scenario({ as: adminKey, get: '/v1/properties', status: 200 })
    await harness.app.usage.flush()

    const usage = async (query: string) =>
      (await scenario({ as: adminKey, get: `/v1/usage${query}`, status: 200 })).data
    const today = harness.clock.now().toISOString().slice(0, 10)
    const yesterday = new Date(harness.clock.now().getTime() - 86_400_000).toISOString().slice(0, 10)
    const line = (date: string, credential: string, route: string, requests: number) => ({
      date,
      credential,
      route,
      requests,
    })
    const old = [
      line(yesterday, first!.id, 'GET /v1/properties', 3),
      line(yesterday, second!.id, 'GET /v1/properties/:id', 1),
      line(yesterday, second!.id, 'unknown', 1),
    ]
    expect(await usage('')).toEqual([line(today, first!.id, 'GET /v1/properties', 1), ...old])
    expect(await usage(`?to=${yesterday}`)).toEqual(old)
    expect(await usage(`?from=${today}&route=GET%20/v1/properties`)).toHaveLength(1)
    expect(await usage(`?credential=${second!.id}`)).toEqual(old.slice(1))
    expect(await usage('?per_page=1&page=2')).toEqual(old.slice(0, 1))
    expect(await usage(`?from=2020-01-01&to=2020-01-31`)).toEqual([])
  })

  it('is for admins, and checks its query', async () => {
    const key = await harness.createKey(harness.tenant.production, ['read:properties'])
    await scenario({ as: key, get: '/v1/usage', status: 403 })
    await scenario({ get: '/v1/usage?from=yesterday', status: 422, wrong: ['from'] })
    await scenario({ get: '/v1/usage?from=2026-02-02&to=2026-02-01', status: 422, wrong: ['from'] })
  })

  it('shows nothing of another workspace, and does not keep what is long past', async () => {
    const { production } = harness.tenant
    const { adminKey } = await planTenant('enterprise')
    await harness.sql`
      insert into usage_days values (${production.id}, '2023-01-01', 'key_old', 'GET /v1/leads', 7)`
    const old = '/v1/usage?from=2023-01-01&to=2023-01-01'
    expect((await scenario({ as: adminKey, get: old, status: 200 })).data).toEqual([])
    expect((await scenario({ get: old, status: 200 })).data).toHaveLength(1)
    await forgetOldUsage(harness)
    expect((await scenario({ get: old, status: 200 })).data).toEqual([])
  })
})
