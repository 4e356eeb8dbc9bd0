import * as oauth from 'oauth4webapi'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { password, useHarness } from '../../test/harness.ts'
import { type App, buildApp } from '../app.ts'

/** A client library that shares no code with us, over real sockets, and a person who fills in the forms. */

const harness = useHarness()
const insecure = { [oauth.allowInsecureRequests]: true }
const redirectUri = 'http://127.0.0.1:9/callback'

let app: App
let base: string

beforeAll(async () => {
  // The address is known only when it listens, and it is part of what the server says of itself.
  const probe = await harness.buildApp()
  base = await probe.servers.production.listen({ port: 0, host: '127.0.0.1' })
  await probe.close()
  app = await buildApp({
    sql: harness.sql,
    clock: harness.clock,
    log: pino({ level: 'silent' }),
    secrets: harness.secrets,
    courier: harness.courier,
    urls: { production: base, sandbox: 'http://127.0.0.1:9' },
    authUrl: base,
    bodyLimitBytes: 1_048_576,
    importLimitBytes: 1_048_576,
  })
  await app.servers.production.listen({ port: Number(new URL(base).port), host: '127.0.0.1' })
})
afterAll(() => app.close())

/** Follows the redirects of our own host with the cookies it sets, as a browser would. */
async function browse(
  cookies: Map<string, string>,
  url: string,
  form?: Record<string, string>,
): Promise<Response> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  })
  for (const cookie of response.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
    cookies.set(name!, value!)
  }
  const location = response.headers.get('location')
  if (!location || location.startsWith(redirectUri)) return response
  return browse(cookies, new URL(location, url).href)
}

async function agree(authorizationUrl: URL): Promise<URL> {
  const cookies = new Map<string, string>()
  const signIn = await browse(cookies, authorizationUrl.href)
  const person = { email: harness.tenant.ownerEmail, password, action: 'sign-in' }
  const consent = await browse(cookies, signIn.url, person)
  const yes = { workspace_id: harness.tenant.production.id, action: 'allow' }
  const back = await browse(cookies, consent.url, yes)
  return new URL(back.headers.get('location')!)
}

describe.each([
  ['a confidential client', false],
  ['a public client', true],
])('%s of oauth4webapi', (_name, isPublic) => {
  it('finds its way by the metadata, gets tokens, calls the API, refreshes and revokes', async () => {
    const { data } = await harness.scenario({
      post: '/v1/oauth-clients',
      body: { name: 'Library', redirect_uris: [redirectUri], scopes: ['read:properties'], public: isPublic },
      status: 201,
    })
    const issuer = new URL(base)
    const discovery = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
    const server = await oauth.processDiscoveryResponse(issuer, discovery)
    const client: oauth.Client = { client_id: data.client_id }
    const authentication = isPublic ? oauth.None() : oauth.ClientSecretPost(data.client_secret)

    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const url = new URL(server.authorization_endpoint!)
    url.search = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'read:properties',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString()
    const params = oauth.validateAuthResponse(server, client, await agree(url), state)

    const granted = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        params,
        redirectUri,
        verifier,
        insecure,
      ),
    )
    expect(granted).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'read:properties' })
    const call = (token: string) =>
      oauth.protectedResourceRequest(
        token,
        'GET',
        new URL('/v1/properties', base),
        undefined,
        undefined,
        insecure,
      )
    expect((await call(granted.access_token)).status).toBe(200)

    const refreshed = await oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, authentication, granted.refresh_token!, insecure),
    )
    expect((await call(refreshed.access_token)).status).toBe(200)

    const revocation = await oauth.revocationRequest(
      server,
      client,
      authentication,
      refreshed.refresh_token!,
      insecure,
    )
    await oauth.processRevocationResponse(revocation)
    await expect(call(refreshed.access_token)).rejects.toThrow(oauth.WWWAuthenticateChallengeError)
  })
})
