import { describe, expect, it, vi } from 'vitest'
import { Browser } from '../../test/browser.ts'
import { aProperty, inviteGuest } from '../../test/fixtures.ts'
import { useHarness } from '../../test/harness.ts'
import {
  authorize,
  callback,
  exchange,
  newVerifier,
  obtainTokens,
  postToken,
  refresh,
  registerClient,
} from '../../test/oauth.ts'

const harness = useHarness()
const { scenario } = harness

const hourMs = 3_600_000
// Told by NOTIFY; without it, what is remembered of a credential would be trusted for ten seconds.
const soon = { timeout: 5_000 }

describe('the authorization-code flow', () => {
  it('gives tokens that work, and refreshes them', async () => {
    const client = await registerClient(harness)
    const back = await authorize(harness, { client })
    expect(back.origin + back.pathname).toBe(callback)
    expect(back.searchParams.get('state')).toBe('a state')
    expect(back.searchParams.get('iss')).toBe('https://api.test')
    const { status, body, headers } = await exchange(harness, client, back.searchParams.get('code')!)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.any(String),
      scope: 'read:properties',
    })
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['x-request-id']).toMatch(/^req_/)
    expect(headers['x-ratelimit-limit']).toBeDefined()
    await scenario({ as: body.access_token, get: '/v1/properties', status: 200 })
    const refreshed = await refresh(harness, client, body.refresh_token)
    expect(refreshed.body).toEqual({
      ...body,
      access_token: expect.any(String),
      refresh_token: expect.any(String),
    })
    expect(refreshed.body.refresh_token).not.toBe(body.refresh_token)
    await scenario({ as: refreshed.body.access_token, get: '/v1/properties', status: 200 })
  })

  it('takes forms and Basic authentication at the token endpoint, as the RFC has it', async () => {
    const client = await registerClient(harness)
    const forms = [
      { headers: {}, secret: { client_id: client.client_id, client_secret: client.client_secret! } },
      {
        headers: {
          authorization: `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}`,
        },
        secret: {},
      },
    ]
    for (const { headers, secret } of forms) {
      const back = await authorize(harness, { client })
      const form = {
        grant_type: 'authorization_code',
        code: back.searchParams.get('code')!,
        redirect_uri: callback,
        ...secret,
      }
      const response = await harness.server().inject({
        method: 'POST',
        url: '/oauth/token',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        payload: new URLSearchParams(form as Record<string, string>).toString(),
      })
      expect(response.statusCode, response.body).toBe(200)
    }
  })

  it('works for public clients with PKCE, and not without', async () => {
    const client = await registerClient(harness, { public: true })
    const verifier = newVerifier()
    const tokens = await obtainTokens(harness, { client, verifier })
    await scenario({ as: tokens.access_token, get: '/v1/properties', status: 200 })
    expect((await refresh(harness, client, tokens.refresh_token)).status).toBe(200)
    const { at } = await new Browser(harness.server()).go(
      `/oauth/authorize?client_id=${client.client_id}&redirect_uri=${encodeURIComponent(callback)}&response_type=code&scope=read:properties`,
    )
    expect(new URL(at).searchParams.get('error')).toBe('invalid_request')
  })

  it('ends after an hour, and after 30 days without a refresh', async () => {
    const client = await registerClient(harness)
    const tokens = await obtainTokens(harness, { client })
    harness.clock.advance(hourMs - 1)
    await scenario({ as: tokens.access_token, get: '/v1/properties', status: 200 })
    harness.clock.advance(1)
    await scenario({ as: tokens.access_token, get: '/v1/properties', status: 401 })
    harness.clock.advance(30 * 24 * hourMs - 2 * hourMs)
    const second = await refresh(harness, client, tokens.refresh_token)
    expect(second.status).toBe(200)
    harness.clock.advance(30 * 24 * hourMs - hourMs)
    const third = await refresh(harness, client, second.body.refresh_token)
    expect(third.status).toBe(200)
    await scenario({ as: third.body.access_token, get: '/v1/properties', status: 200 })
    harness.clock.advance(30 * 24 * hourMs)
    const late = await refresh(harness, client, third.body.refresh_token)
    expect(late).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  it('is for the workspace that the person chose, and its host', async () => {
    const { tenant } = harness
    const client = await registerClient(harness)
    const tokens = await obtainTokens(harness, { client, workspaceId: tenant.sandbox.id })
    await scenario({
      as: tokens.access_token,
      on: 'sandbox',
      get: '/v1/workspace',
      status: 200,
      match: { id: tenant.sandbox.id },
    })
    await scenario({
      as: tokens.access_token,
      get: '/v1/workspace',
      status: 403,
      error: { message: expect.stringContaining('https://sandbox.test') },
    })
  })

  it('does not reach the other workspaces of the person', async () => {
    const guest = await inviteGuest(harness, 'admin')
    const client = await registerClient(harness)
    const tokens = await obtainTokens(harness, { client, tenant: guest.home })
    const headers = { 'x-workspace-id': harness.tenant.production.id }
    await scenario({ as: tokens.access_token, get: '/v1/properties', status: 200 })
    await scenario({ as: tokens.access_token, headers, get: '/v1/properties', status: 403 })
  })

  it('gives what was asked for, cut by the role of the person', async () => {
    const guest = await inviteGuest(harness, 'agent')
    const client = await registerClient(harness, { scopes: ['admin', 'read:properties', 'write:properties'] })
    const tokens = await obtainTokens(harness, {
      client,
      tenant: guest.home,
      workspaceId: harness.tenant.production.id,
      scope: 'write:properties admin',
    })
    expect(tokens.scope).toBe('write:properties admin')
    await scenario({ as: tokens.access_token, get: '/v1/properties', status: 200 })
    await scenario({ as: tokens.access_token, post: '/v1/properties', body: aProperty, status: 403 })
    await scenario({ as: tokens.access_token, get: '/v1/api-keys', status: 403 })
    await harness.sql`update agents set role = 'owner' where id = ${guest.agentId}`
    await vi.waitFor(() => scenario({ as: tokens.access_token, get: '/v1/api-keys', status: 200 }), soon)
  })

  it('stops at once for a person who was deactivated, and begins no more', async () => {
    const guest = await inviteGuest(harness, 'admin')
    const client = await registerClient(harness)
    const where = { tenant: guest.home, workspaceId: harness.tenant.production.id }
    const tokens = await obtainTokens(harness, { client, ...where })
    const unused = await authorize(harness, { client, ...where })
    await scenario({ as: tokens.access_token, get: '/v1/properties', status: 200 })
    await harness.sql`update agents set status = 'inactive' where id = ${guest.agentId}`
    await vi.waitFor(() => scenario({ as: tokens.access_token, get: '/v1/properties', status: 401 }), soon)
    const refreshed = await refresh(harness, client, tokens.refresh_token)
    expect(refreshed).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const exchanged = await exchange(harness, client, unused.searchParams.get('code')!)
    expect(exchanged).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  it('needs a plan with API access', async () => {
    const tenant = await harness.createTenant({ name: 'Growing', plan: 'professional', currency: 'USD' })
    const client = await registerClient(harness)
    const tokens = await obtainTokens(harness, { client, tenant })
    await harness.sql`update workspaces set plan = 'starter' where id = ${tenant.production.id}`
    const message = expect.stringContaining('Starter')
    await vi.waitFor(
      () => scenario({ as: tokens.access_token, get: '/v1/properties', status: 403, error: { message } }),
      soon,
    )
  })
})

describe('revoking', () => {
  it.each(['access_token', 'refresh_token'])('the %s ends the whole grant', async (kind) => {
    const client = await registerClient(harness)
    const tokens = await obtainTokens(harness, { client })
    await scenario({ as: tokens.access_token, get: '/v1/properties', status: 200 })
    const revoked = await postToken(harness, { ...credentials(client), token: tokens[kind] }, '/oauth/revoke')
    expect(revoked.status).toBe(200)
    await scenario({ as: tokens.access_token, get: '/v1/properties', status: 401 })
    expect((await refresh(harness, client, tokens.refresh_token)).body.error).toBe('invalid_grant')
  })

  it('by another client does nothing, and tells nothing', async () => {
    const [client, other] = [await registerClient(harness), await registerClient(harness)]
    const tokens = await obtainTokens(harness, { client })
    const attempt = { ...credentials(other), token: tokens.access_token }
    expect((await postToken(harness, attempt, '/oauth/revoke')).status).toBe(200)
    await scenario({ as: tokens.access_token, get: '/v1/properties', status: 200 })
  })

  it('happens when the client is deleted', async () => {
    const client = await registerClient(harness)
    const tokens = await obtainTokens(harness, { client })
    await scenario({ as: tokens.access_token, get: '/v1/properties', status: 200 })
    await scenario({ delete: `/v1/oauth-clients/${client.client_id}`, status: 204 })
    await scenario({ as: tokens.access_token, get: '/v1/properties', status: 401 })
    expect(await refresh(harness, client, tokens.refresh_token)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    })
  })
})

const credentials = (client: { client_id: string; client_secret?: string }) => ({
  client_id: client.client_id,
  client_secret: client.client_secret,
})
