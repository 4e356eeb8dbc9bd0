import { beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { aProperty, createProperty, inviteGuest } from '../../test/fixtures.ts'
import { databaseNamed } from '../../test/global-setup.ts'
import { type Tenant, useHarness } from '../../test/harness.ts'
import { apiKeyCredentials } from '../features/api-keys/credential.ts'
import { insertKey } from '../features/api-keys/queries.ts'
import { isMistyped, newKeyToken } from '../features/api-keys/token.ts'
import { connect } from '../infra/db.ts'
import { hashToken } from './credentials.ts'
import type { Scope } from './scopes.ts'

const harness = useHarness()
const { scenario } = harness

const list = '/v1/properties'
const keyOf = (scopes: Scope[]) => harness.createKey(harness.tenant.production, scopes)
const unauthorized = { status: 401, error: { code: 'UNAUTHORIZED' } }
const forbidden = (message: unknown) => ({ status: 403, error: { code: 'FORBIDDEN', message } })
const saying = (text: string) => expect.stringContaining(text)

// NOTIFY does it. Without it, what is remembered of a credential would be trusted for ten seconds.
const soon = { timeout: 5_000 }

/** The same key with one character typed wrong. */
const mistyped = (key: string, at: number) =>
  key.slice(0, at) + (key[at] === 'a' ? 'b' : 'a') + key.slice(at + 1)

describe('a credential', () => {
  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['a bare scheme', 'Bearer'],
    ['a scheme and spaces', 'Bearer   '],
    ['another scheme', 'Digest abc'],
    ['two words', 'Bearer one two'],
    ['of no known kind', 'Bearer abc'],
    ['a prefix alone', 'Bearer pb_live_'],
    ['unknown', `Bearer ${newKeyToken('production')}`],
    ['too long', `Bearer pb_live_${'a'.repeat(4000)}`],
    ['Basic with nothing in it', 'Basic Og=='],
    ['Basic with garbage', 'Basic !!!'],
  ])('that is %s is refused', async (_what, authorization) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    const answer = await scenario({ as: null, get: list, headers, ...unauthorized })
    expect(answer.headers['www-authenticate']).toContain('Bearer')
  })

  it('without its scheme is refused', async () => {
    await scenario({
      as: null,
      get: list,
      headers: { authorization: harness.tenant.adminKey },
      ...unauthorized,
    })
  })

  it.each(['bearer', 'BEARER', 'Bearer  '])('may be sent as "%s"', async (scheme) => {
    const headers = { authorization: `${scheme} ${harness.tenant.adminKey}` }
    await scenario({ as: null, get: list, headers, status: 200 })
  })

  it('that is mistyped is refused without a look-up', async () => {
    const key = harness.tenant.adminKey
    const sql = vi.fn(() => {
      throw new Error('looked up')
    })
    const keys = apiKeyCredentials(sql as never, new Set())
    for (let at = 'pb_live_'.length; at < key.length; at++) {
      const wrong = mistyped(key, at)
      expect(isMistyped(wrong), `character ${at}`).toBe(true)
      expect(await keys.find(wrong, hashToken(wrong), 'production')).toBeUndefined()
    }
    expect(sql).not.toHaveBeenCalled()
    await scenario({ as: mistyped(key, 20), get: list, ...unauthorized })
    await scenario({ as: key, get: list, status: 200 })
  })

  it('works until the moment it expires', async () => {
    const token = newKeyToken('production')
    const expiresAt = new Date(harness.clock.now().getTime() + 1000)
    const workspaceId = harness.tenant.production.id
    const key = { workspaceId, name: 'short', scopes: ['admin' as const], token, createdBy: null, expiresAt }
    await insertKey(harness.sql, key, harness.clock.now())
    await scenario({ as: token, get: list, status: 200 })
    harness.clock.advance(999)
    await scenario({ as: token, get: list, status: 200 })
    harness.clock.advance(1)
    await scenario({ as: token, get: list, ...unauthorized })
  })

  it('that is revoked, narrowed or shut out fails at once in every process', async () => {
    const pool = connect(databaseNamed(inject('server'), harness.sql.options.database), { max: 2 })
    const second = await harness.buildApp(pool)
    const { sql } = harness
    const tenant = await harness.createTenant({ name: 'Short-lived', plan: 'professional', currency: 'USD' })
    const changes = [
      { scopes: ['write:leads'], status: 403 },
      { scopes: ['read:properties'], status: 200 },
      { revoked_at: harness.clock.now(), status: 401 },
    ]
    const key = await harness.createKey(tenant.production, ['admin'])
    const statuses = () =>
      Promise.all(
        [harness.app, second].map(async ({ servers }) => {
          const headers = { authorization: `Bearer ${key}` }
          return (await servers.production.inject({ url: list, headers })).statusCode
        }),
      )
    try {
      expect(await statuses()).toEqual([200, 200])
      await sql`update workspaces set api_access = false where id = ${tenant.production.id}`
      await vi.waitFor(async () => expect(await statuses()).toEqual([403, 403]), soon)
      await sql`update workspaces set api_access = true where id = ${tenant.production.id}`
      await vi.waitFor(async () => expect(await statuses()).toEqual([200, 200]), soon)
      for (const { status, ...change } of changes) {
        await sql`update api_keys set ${sql(change as never)} where token_hash = ${hashToken(key)}`
        await vi.waitFor(async () => expect(await statuses()).toEqual([status, status]), soon)
      }
    } finally {
      await second.close()
      await pool.end()
    }
  })
})

describe('the environments', () => {
  it('each have their own keys, and name the right host for the other', async () => {
    const { adminKey, testKey } = harness.tenant
    const { production, sandbox } = harness.urls
    await scenario({ as: testKey, get: list, on: 'sandbox', status: 200 })
    await scenario({ as: testKey, get: list, ...forbidden(saying(sandbox)) })
    await scenario({ as: adminKey, get: list, on: 'sandbox', ...forbidden(saying(production)) })
    const unknown = newKeyToken('sandbox')
    await scenario({ as: unknown, get: list, ...forbidden(saying(sandbox)) })
    await scenario({ as: unknown, get: list, on: 'sandbox', ...unauthorized })
  })

  it('do not see each other', async () => {
    const { id } = await createProperty(harness)
    const sandbox = { as: harness.tenant.testKey, on: 'sandbox' as const }
    await scenario({ ...sandbox, get: `${list}/${id}`, status: 404 })
    await scenario({ ...sandbox, get: list, status: 200, match: [] })
  })
})

describe('the plan of a workspace', () => {
  it.each([
    ['starter', true, 'Starter'],
    ['starter', false, 'Starter'],
    ['professional', false, 'professional'],
    ['enterprise', false, 'enterprise'],
  ] as const)('%s with API access %s is refused', async (plan, apiAccess, named) => {
    const tenant = await harness.createTenant({ name: 'Small', plan, currency: 'USD', apiAccess })
    await scenario({ as: tenant.adminKey, get: list, ...forbidden(saying(named)) })
    await scenario({ as: tenant.testKey, on: 'sandbox', get: list, ...forbidden(saying(named)) })
  })

  it.each(['professional', 'enterprise'] as const)('%s is let in', async (plan) => {
    const tenant = await harness.createTenant({ name: 'Large', plan, currency: 'USD' })
    await scenario({ as: tenant.adminKey, get: list, status: 200 })
  })
})

describe('X-Workspace-ID', () => {
  let stranger: Tenant
  beforeAll(async () => {
    stranger = await harness.createTenant({ name: 'Stranger', plan: 'enterprise', currency: 'USD' })
  })
  const inWorkspace = (id: string) => ({ headers: { 'x-workspace-id': id } })

  it('may name the own workspace, and any other that the person is active in', async () => {
    const { tenant } = harness
    await scenario({ get: list, ...inWorkspace(tenant.production.id), status: 200 })
    const { asGuest, home } = await inviteGuest(harness, 'admin')
    const { data } = await scenario({ ...asGuest, post: list, body: aProperty, status: 201 })
    await scenario({ get: `${list}/${data.id}`, status: 200 })
    await scenario({ as: home.adminKey, get: `${list}/${data.id}`, status: 404 })
  })

  it('is refused alike whatever is wrong with it', async () => {
    const { tenant, sql } = harness
    const { asGuest, agentId } = await inviteGuest(harness, 'admin')
    await sql`update agents set status = 'inactive' where id = ${agentId}`
    const refused = [
      { ...inWorkspace(stranger.production.id) },
      { ...inWorkspace(tenant.sandbox.id) },
      { ...inWorkspace(`ws_${'0'.repeat(26)}`) },
      { ...inWorkspace('nonsense') },
      { ...inWorkspace('') },
      { ...inWorkspace("ws_' or 1=1 --") },
      { ...asGuest },
      // A key that nobody stands behind is of one workspace alone.
      { as: await keyOf(['admin']), ...inWorkspace(stranger.production.id) },
    ]
    const texts = new Set<string>()
    for (const request of refused) {
      texts.add((await scenario({ ...request, get: list, ...forbidden(saying('X-Workspace-ID')) })).text)
    }
    expect(texts.size).toBe(1)
  })

  it('ends with the membership', async () => {
    const { asGuest, agentId } = await inviteGuest(harness, 'agent')
    await scenario({ ...asGuest, get: list, status: 200 })
    await harness.sql`update agents set status = 'inactive' where id = ${agentId}`
    const { as, headers } = asGuest
    await vi.waitFor(() => scenario({ as, headers, get: list, ...forbidden(saying('X-Workspace-ID')) }), soon)
  })
})

describe('Basic authentication', () => {
  const basic = (user: string) => ({ authorization: `Basic ${Buffer.from(`${user}:`).toString('base64')}` })

  it('still works, and says that it will not', async () => {
    const answers = [
      await scenario({ as: null, get: list, headers: basic(harness.tenant.adminKey), status: 200 }),
      await scenario({ as: null, get: `${list}/x`, headers: basic(harness.tenant.adminKey), status: 404 }),
      await scenario({ as: null, get: list, headers: basic(await keyOf(['webhooks'])), status: 403 }),
    ]
    for (const { headers } of answers) {
      expect(headers.deprecation).toMatch(/^@\d+$/)
      expect(Date.parse(headers.sunset!)).toBeGreaterThan(harness.clock.now().getTime())
    }
    const { headers } = await scenario({ get: list, status: 200 })
    expect(headers).not.toHaveProperty('deprecation')
    expect(headers).not.toHaveProperty('sunset')
  })

  it('checks keys as strictly', async () => {
    await scenario({ as: null, get: list, headers: basic(newKeyToken('production')), ...unauthorized })
    await scenario({
      as: null,
      get: list,
      headers: basic(harness.tenant.testKey),
      ...forbidden(saying('sandbox')),
    })
  })
})
