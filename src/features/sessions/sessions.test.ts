import { describe, expect, it, vi } from 'vitest'
import { aProperty, inviteGuest } from '../../../test/fixtures.ts'
import { password, useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

const hourMs = 3_600_000
// Told by NOTIFY; without it, what is remembered of a credential would be trusted for ten seconds.
const soon = { timeout: 5_000 }

describe('signing in', () => {
  it('gives a token for both hosts, the person and their workspaces', async () => {
    const { tenant } = harness
    const { data, headers } = await scenario({
      as: null,
      post: '/v1/sessions',
      body: { email: tenant.ownerEmail.toUpperCase(), password },
      status: 201,
      match: {
        token: expect.stringMatching(/^pb_sess_[\w-]{43}$/),
        expires_at: new Date(harness.clock.now().getTime() + 24 * hourMs).toISOString(),
        person: { id: tenant.accountId, email: tenant.ownerEmail, name: 'Olivia Owner' },
        workspaces: [
          { id: tenant.production.id, environment: 'production', role: 'owner', agent_id: tenant.ownerId },
          { id: tenant.sandbox.id, environment: 'sandbox', role: 'owner', agent_id: tenant.sandboxOwnerId },
        ],
      },
    })
    expect(headers['cache-control']).toBe('no-store')
    for (const on of ['production', 'sandbox'] as const)
      await scenario({ as: data.token, on, get: '/v1/workspace', status: 200, match: { environment: on } })
    const { token: _, ...rest } = data
    const current = await scenario({ as: data.token, get: '/v1/sessions/current', status: 200 })
    expect(current.data).toEqual(rest)
  })

  it('works on the sandbox host as well', async () => {
    const body = { email: harness.tenant.ownerEmail, password }
    await scenario({ as: null, on: 'sandbox', post: '/v1/sessions', body, status: 201 })
  })

  it('says the same of a wrong password and an unknown person', async () => {
    const wrong = { as: null, post: '/v1/sessions', status: 401 } as const
    const one = await scenario({
      ...wrong,
      body: { email: harness.tenant.ownerEmail, password: 'nope nope' },
    })
    const other = await scenario({ ...wrong, body: { email: 'nobody@example.com', password } })
    expect(one.text).toBe(other.text)
  })

  it('lasts 24 hours', async () => {
    const token = await harness.signIn()
    harness.clock.advance(24 * hourMs - 1)
    await scenario({ as: token, get: '/v1/workspace', status: 200 })
    harness.clock.advance(1)
    await scenario({ as: token, get: '/v1/workspace', status: 401 })
  })
})

describe('signing out', () => {
  it('ends the session at once, and no other', async () => {
    const [one, other] = [await harness.signIn(), await harness.signIn()]
    await scenario({ as: one, get: '/v1/workspace', status: 200 })
    const { headers } = await scenario({ as: one, delete: '/v1/sessions/current', status: 204 })
    expect(headers['set-cookie']).toContain('Max-Age=0')
    await scenario({ as: one, get: '/v1/workspace', status: 401 })
    await scenario({ as: other, get: '/v1/workspace', status: 200 })
  })

  it('is not for keys', async () => {
    await scenario({ delete: '/v1/sessions/current', status: 403 })
    await scenario({ get: '/v1/sessions/current', status: 403 })
  })
})

describe('the cookie', () => {
  const signedIn = async () => {
    const body = { email: harness.tenant.ownerEmail, password }
    const { headers } = await scenario({ as: null, post: '/v1/sessions', body, status: 201 })
    return headers['set-cookie']!
  }
  const cookieOf = (header: string) => header.split(';')[0]!

  it('is kept from scripts, other sites and plain HTTP', async () => {
    const header = await signedIn()
    for (const part of ['HttpOnly', 'SameSite=Lax', 'Secure', 'Path=/', 'Max-Age=86400'])
      expect(header).toContain(part)
  })

  it('is enough to read', async () => {
    const cookie = cookieOf(await signedIn())
    await scenario({ as: null, headers: { cookie }, get: '/v1/workspace', status: 200 })
    await scenario({
      as: null,
      headers: { cookie: `a=b; ${cookie}; c=d` },
      get: '/v1/workspace',
      status: 200,
    })
    await scenario({ as: null, headers: { cookie: 'plotbase_session=' }, get: '/v1/workspace', status: 401 })
  })

  it.each([
    [undefined, 403],
    ['null', 403],
    ['https://evil.example', 403],
    ['https://api.test.evil.example', 403],
    ['https://sandbox.test', 403],
    ['http://api.test', 403],
    ['https://api.test', 201],
  ])('writes from %s: %i', async (origin, status) => {
    const cookie = cookieOf(await signedIn())
    const headers: Record<string, string> = { cookie, ...(origin && { origin }) }
    await scenario({ as: null, headers, post: '/v1/properties', body: aProperty, status })
  })

  it('is never offered to other origins', async () => {
    const cookie = cookieOf(await signedIn())
    const headers = { cookie, origin: 'https://evil.example' }
    const answer = await scenario({ as: null, headers, get: '/v1/workspace', status: 200 })
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
    const body = { email: harness.tenant.ownerEmail, password }
    const signIn = await scenario({
      as: null,
      headers: { origin: 'https://evil.example' },
      post: '/v1/sessions',
      body,
      status: 201,
    })
    expect(signIn.headers['set-cookie']).toBeUndefined()
  })
})

describe('guessing', () => {
  const attempt = async (email: string, guess: string, status: number) =>
    scenario({ as: null, post: '/v1/sessions', body: { email, password: guess }, status })

  it('is slowed down by account, for the right password too, and forgiven after the wait', async () => {
    const tenant = await harness.createTenant({ name: 'Guessed', plan: 'professional', currency: 'USD' })
    for (let i = 0; i < 5; i++) await attempt(tenant.ownerEmail, `guess ${i}`, 401)
    const { body, headers } = await attempt(tenant.ownerEmail, password, 429)
    expect(body.error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retry_after: 15 })
    expect(headers['retry-after']).toBe('15')
    await harness.signIn()
    harness.clock.advance(15_000)
    await attempt(tenant.ownerEmail, 'one more', 401)
    harness.clock.advance(29_000)
    await attempt(tenant.ownerEmail, password, 429)
    harness.clock.advance(1_000)
    await attempt(tenant.ownerEmail, password, 201)
    await attempt(tenant.ownerEmail, 'after a success all is forgotten', 401)
    await attempt(tenant.ownerEmail, password, 201)
  })

  it('many at once counts as many', async () => {
    const tenant = await harness.createTenant({ name: 'Rushed', plan: 'professional', currency: 'USD' })
    const body = (guess: string) => JSON.stringify({ email: tenant.ownerEmail, password: guess })
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const headers = { 'content-type': 'application/json' }
        const request = { method: 'POST', url: '/v1/sessions', headers, payload: body(`guess ${i}`) } as const
        return (await harness.server().inject(request)).statusCode
      }),
    )
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(15)
  })

  it('is slowed down by address, whoever is guessed at', async () => {
    harness.clock.advance(2 * hourMs)
    for (let i = 0; i < 30; i++) await attempt(`person-${i}@example.com`, 'guess', 401)
    await attempt('person-31@example.com', 'guess', 429)
    const elsewhere = await harness.server().inject({
      method: 'POST',
      url: '/v1/sessions',
      remoteAddress: '192.0.2.7',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ email: harness.tenant.ownerEmail, password }),
    })
    expect(elsewhere.statusCode).toBe(201)
    harness.clock.advance(2 * hourMs)
  })
})

describe('a session', () => {
  it('acts where X-Workspace-ID says, within the role there', async () => {
    const guest = await inviteGuest(harness, 'viewer')
    const session = await harness.signIn(guest.home.ownerEmail)
    const there = { as: session, headers: { 'x-workspace-id': harness.tenant.production.id } }
    const home = { as: session, headers: { 'x-workspace-id': guest.home.production.id } }
    await scenario({ ...home, post: '/v1/properties', body: aProperty, status: 201 })
    await scenario({ ...there, get: '/v1/properties', status: 200 })
    await scenario({ ...there, post: '/v1/properties', body: aProperty, status: 403 })
    await harness.sql`update agents set role = 'admin' where id = ${guest.agentId}`
    await vi.waitFor(() => scenario({ ...there, post: '/v1/properties', body: aProperty, status: 201 }), soon)
    await harness.sql`update agents set status = 'inactive' where id = ${guest.agentId}`
    await vi.waitFor(() => scenario({ ...there, get: '/v1/properties', status: 403 }), soon)
  })

  it('has the rights of a better role elsewhere, not of the first workspace', async () => {
    const tenant = await harness.createTenant({ name: 'Second', plan: 'professional', currency: 'USD' })
    const guest = await inviteGuest(harness, 'admin')
    await harness.sql`update agents set role = 'viewer' where account_id = ${guest.home.accountId} and workspace_id = ${guest.home.production.id}`
    await harness.sql`update agents set created_at = created_at + interval '1 minute' where id = ${guest.agentId}`
    const session = await harness.signIn(guest.home.ownerEmail)
    await scenario({
      as: session,
      get: '/v1/workspace',
      status: 200,
      match: { id: guest.home.production.id },
    })
    await scenario({ as: session, post: '/v1/properties', body: aProperty, status: 403 })
    const headers = { 'x-workspace-id': harness.tenant.production.id }
    await scenario({ as: session, headers, post: '/v1/properties', body: aProperty, status: 201 })
    const stranger = { 'x-workspace-id': tenant.production.id }
    await scenario({ as: session, headers: stranger, get: '/v1/properties', status: 403 })
  })

  it('of a person who was deactivated everywhere stops at once', async () => {
    const tenant = await harness.createTenant({ name: 'Left', plan: 'professional', currency: 'USD' })
    const session = await harness.signIn(tenant.ownerEmail)
    await scenario({ as: session, get: '/v1/workspace', status: 200 })
    await harness.sql`update agents set status = 'inactive' where account_id = ${tenant.accountId}`
    for (const on of ['production', 'sandbox'] as const)
      await vi.waitFor(() => scenario({ as: session, on, get: '/v1/workspace', status: 401 }), soon)
  })

  it('of a person who has left production is of no use in the sandbox either', async () => {
    const tenant = await harness.createTenant({ name: 'Left half', plan: 'professional', currency: 'USD' })
    const session = await harness.signIn(tenant.ownerEmail)
    const asked = { as: session, on: 'sandbox', get: '/v1/workspace' } as const
    await scenario({ ...asked, status: 200 })
    const become = (status: string) =>
      harness.sql`update agents set status = ${status} where id = ${tenant.ownerId}`
    await become('inactive')
    await vi.waitFor(() => scenario({ ...asked, status: 401 }), soon)
    await become('active')
    await vi.waitFor(() => scenario({ ...asked, status: 200 }), soon)
  })

  it('notes when the person was last active', async () => {
    const session = await harness.signIn()
    await scenario({ as: session, get: '/v1/workspace', status: 200 })
    await harness.app.flushLastUsed()
    const [row] = await harness.sql`select last_active from agents where id = ${harness.tenant.ownerId}`
    expect(row!.last_active).toBe(harness.clock.now().toISOString())
  })
})
