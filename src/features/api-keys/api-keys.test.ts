import { describe, expect, it } from 'vitest'
import { inviteGuest } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { roles } from '../../kernel/scopes.ts'

const harness = useHarness()
const { scenario } = harness

const create = async (body: object = {}, more: object = {}) =>
  (
    await scenario({
      post: '/v1/api-keys',
      body: { name: 'Website', scopes: ['read:properties'], ...body },
      status: 201,
      ...more,
    })
  ).data

const listed = async (query = '') => (await scenario({ get: `/v1/api-keys${query}`, status: 200 })).data

describe('creating a key', () => {
  it('shows it once, and it works', async () => {
    const data = await create()
    expect(data).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'Website',
      scopes: ['read:properties'],
      key: expect.stringMatching(/^pb_live_[0-9A-Za-z]{38}$/),
      last_four: data.key.slice(-4),
      environment: 'production',
      created_by: harness.tenant.ownerId,
      needs_review: false,
      created_at: harness.clock.now().toISOString(),
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
    })
    await scenario({ as: data.key, get: '/v1/properties', status: 200 })
    await scenario({ as: data.key, post: '/v1/properties', body: {}, status: 403 })
    const { key, ...rest } = data
    const shown = await scenario({ get: `/v1/api-keys/${data.id}`, status: 200 })
    expect(shown.data).toEqual(rest)
    const list = await scenario({ get: '/v1/api-keys?per_page=100', status: 200 })
    expect(list.data).toContainEqual(rest)
    expect(list.text).not.toContain(key)
  })

  it('can give it an end', async () => {
    const expires_at = new Date(harness.clock.now().getTime() + 60_000).toISOString()
    const { key } = await create({ expires_at })
    await scenario({ as: key, get: '/v1/properties', status: 200 })
    harness.clock.advance(60_000)
    await scenario({ as: key, get: '/v1/properties', status: 401 })
  })

  it('makes test keys for the sandbox, from either host', async () => {
    const { tenant } = harness
    const fromProduction = await create({ environment: 'sandbox' })
    expect(fromProduction).toMatchObject({
      key: expect.stringMatching(/^pb_test_/),
      environment: 'sandbox',
      created_by: tenant.sandboxOwnerId,
    })
    await scenario({ as: fromProduction.key, on: 'sandbox', get: '/v1/properties', status: 200 })
    await scenario({
      as: fromProduction.key,
      get: '/v1/properties',
      status: 403,
      error: { message: expect.stringContaining('https://sandbox.test') },
    })
    const session = await harness.signIn()
    const fromSandbox = await create({}, { as: session, on: 'sandbox' })
    expect(fromSandbox.key).toMatch(/^pb_test_/)
    const ids = (await listed('?environment=sandbox&per_page=100')).map((key: { id: string }) => key.id)
    expect(ids).toEqual(expect.arrayContaining([fromProduction.id, fromSandbox.id]))
    await scenario({ delete: `/v1/api-keys/${fromProduction.id}`, status: 204 })
    await scenario({ as: fromProduction.key, on: 'sandbox', get: '/v1/properties', status: 401 })
  })

  it.each([
    [{ scopes: [] }, ['scopes']],
    [{ scopes: ['write:everything'] }, ['scopes[0]']],
    [{ scopes: ['webhooks', 'webhooks'] }, ['scopes']],
    [{ environment: 'sandbox', scopes: ['admin'] }, ['scopes']],
    [{ environment: 'staging' }, ['environment']],
    [{ expires_at: '2020-01-01T00:00:00Z' }, ['expires_at']],
    [{ name: '' }, ['name']],
    [{ workspace_id: 'ws_other' }, ['workspace_id']],
  ])('refuses %o', async (body, wrong) => {
    await scenario({
      post: '/v1/api-keys',
      body: { name: 'Website', scopes: ['webhooks'], ...body },
      status: 422,
      wrong,
    })
  })

  it('ignores what only the service sets', async () => {
    const data = await create({ id: 'key_mine', last_four: '0000', created_by: 'agent_x', revoked_at: null })
    expect(data.id).not.toBe('key_mine')
    expect(data.created_by).toBe(harness.tenant.ownerId)
  })

  it('makes no live key on the sandbox host', async () => {
    const session = await harness.signIn()
    await scenario({
      as: session,
      on: 'sandbox',
      post: '/v1/api-keys',
      body: { name: 'x', scopes: ['webhooks'], environment: 'production' },
      status: 422,
      wrong: ['environment'],
    })
  })

  it('gives the same key again for the same Idempotency-Key, and keeps it sealed', async () => {
    const headers = { 'idempotency-key': 'a key for a key' }
    const first = await create({}, { headers })
    const second = await create({}, { headers })
    expect(second).toEqual(first)
    const [row] =
      await harness.sql`select answer::text as kept from idempotency_keys where key = 'a key for a key'`
    expect(row!.kept).not.toContain(first.key)
  })
})

describe('who manages keys', () => {
  it.each(roles)('%s', async (role) => {
    const guest = await inviteGuest(harness, role)
    const session = await harness.signIn(guest.home.ownerEmail)
    const status = role === 'owner' || role === 'admin' ? 200 : 403
    await scenario({
      as: session,
      headers: { 'x-workspace-id': harness.tenant.production.id },
      get: '/v1/api-keys',
      status,
    })
  })
})

describe('revoking a key', () => {
  it('takes effect at once and leaves it in the list', async () => {
    const { id, key } = await create()
    await scenario({ as: key, get: '/v1/properties', status: 200 })
    await scenario({ delete: `/v1/api-keys/${id}`, status: 204 })
    await scenario({ as: key, get: '/v1/properties', status: 401 })
    await scenario({ delete: `/v1/api-keys/${id}`, status: 204 })
    const shown = await scenario({ get: `/v1/api-keys/${id}`, status: 200 })
    expect(shown.data.revoked_at).toBe(harness.clock.now().toISOString())
  })

  it("is 404 for another workspace's key", async () => {
    const other = await harness.createTenant({ name: 'Other', plan: 'professional', currency: 'USD' })
    const { data } = await scenario({ as: other.adminKey, get: '/v1/api-keys', status: 200 })
    await scenario({ delete: `/v1/api-keys/${data[0].id}`, status: 404 })
    await scenario({ as: other.adminKey, get: '/v1/properties', status: 200 })
  })
})

describe('the review', () => {
  it('lists working keys of people who were deactivated', async () => {
    const guest = await inviteGuest(harness, 'admin')
    const { id, key } = await create({}, guest.asGuest)
    expect(await listed('?needs_review=true')).toEqual([])
    await harness.sql`update agents set status = 'inactive' where id = ${guest.agentId}`
    expect(await listed('?needs_review=true')).toMatchObject([{ id, needs_review: true }])
    await scenario({ as: key, get: '/v1/properties', status: 200 })
    await scenario({ delete: `/v1/api-keys/${id}`, status: 204 })
    expect(await listed('?needs_review=true')).toEqual([])
  })
})

describe('when a key was last used', () => {
  it('is noted without a write per request', async () => {
    const { id, key } = await create()
    await harness.app.flushLastUsed()
    // A row that is written gets another xmin.
    const writes = async () => (await harness.sql`select xmin::text from api_keys where id = ${id}`)[0]!.xmin
    const before = await writes()
    for (let i = 0; i < 5; i++) await scenario({ as: key, get: '/v1/properties', status: 200 })
    expect(await writes()).toBe(before)
    expect((await scenario({ get: `/v1/api-keys/${id}`, status: 200 })).data.last_used_at).toBeNull()
    await harness.app.flushLastUsed()
    const shown = await scenario({ get: `/v1/api-keys/${id}`, status: 200 })
    expect(shown.data.last_used_at).toBe(harness.clock.now().toISOString())
  })

  it('never goes back', async () => {
    const { id, key } = await create()
    const later = new Date(harness.clock.now().getTime() + 5_000)
    await harness.sql`update api_keys set last_used_at = ${later} where id = ${id}`
    await scenario({ as: key, get: '/v1/properties', status: 200 })
    await harness.app.flushLastUsed()
    const shown = await scenario({ get: `/v1/api-keys/${id}`, status: 200 })
    expect(shown.data.last_used_at).toBe(later.toISOString())
  })
})
