import { describe, expect, it } from 'vitest'
import { Browser } from '../../test/browser.ts'
import { useHarness } from '../../test/harness.ts'
import {
  authorize,
  authorizeUrl,
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

const codeFor = async (client: { client_id: string }, more: object = {}) =>
  (await authorize(harness, { client, ...more })).searchParams.get('code')!

const refused = { status: 400, body: { error: 'invalid_grant' } }

describe('a redirect_uri that differs in any way', () => {
  it.each([
    'https://app.example.com/callback/',
    'https://app.example.com/Callback',
    'HTTPS://app.example.com/callback',
    'https://APP.example.com/callback',
    'https://app.example.com:443/callback',
    'https://app.example.com:8443/callback',
    'http://app.example.com/callback',
    'https://app.example.com/callback?next=1',
    'https://app.example.com/callback?',
    'https://app.example.com/callback#x',
    'https://app.example.com/callback/../callback',
    'https://app.example.com/%63allback',
    'https://app.example.com//callback',
    'https://app.example.com./callback',
    'https://user@app.example.com/callback',
    'https://app.example.com@evil.example/callback',
    'https://app.example.com.evil.example/callback',
    'https://evil.example/callback',
    'https://app.example.com/callback%00',
    'https://app.example.com/callback%0d%0aLocation:%20https://evil.example',
    ' https://app.example.com/callback',
    'https://app.example.com/callback ',
    '//app.example.com/callback',
    '/callback',
    'javascript:alert(1)',
    'data:text/html,x',
    '',
  ])('is never redirected to: %s', async (uri) => {
    const client = await registerClient(harness)
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: uri,
      response_type: 'code',
      scope: 'read:properties',
    })
    for (const extra of ['', '&prompt=none', '&response_type=token', '&scope=nope', '&request=x']) {
      const response = await harness.server().inject({ url: `/oauth/authorize?${query}${extra}` })
      expect(response.statusCode, `${uri}${extra}`).toBe(400)
      expect(response.headers.location).toBeUndefined()
      expect(response.headers['content-type']).toContain('text/html')
    }
  })

  it('is refused when it is given twice, or not at all', async () => {
    const client = await registerClient(harness)
    const twice = `${authorizeUrl({ client })}&redirect_uri=${encodeURIComponent('https://evil.example')}`
    const missing = `/oauth/authorize?client_id=${client.client_id}&response_type=code&scope=read:properties`
    for (const url of [twice, missing]) {
      const response = await harness.server().inject({ url })
      expect(response.statusCode).toBe(400)
      expect(response.headers.location).toBeUndefined()
    }
  })

  it('is refused when the code is exchanged', async () => {
    const client = await registerClient(harness, {
      redirect_uris: [callback, 'https://app.example.com/other'],
    })
    for (const redirect_uri of [`${callback}/`, 'https://app.example.com/other', undefined]) {
      const answer = await exchange(harness, client, await codeFor(client), { redirect_uri })
      expect(answer.status).toBe(400)
      expect(answer.body.access_token).toBeUndefined()
    }
  })
})

describe('an authorization request', () => {
  it.each([
    ['scope=nope', 'invalid_scope'],
    ['scope=read:properties+nope', 'invalid_scope'],
    ['scope=webhooks', 'invalid_scope'],
    ['scope=', 'invalid_scope'],
    ['response_type=token', 'unsupported_response_type'],
    ['response_type=code+id_token', 'unsupported_response_type'],
    ['code_challenge=abc&code_challenge_method=plain', 'invalid_request'],
    ['code_challenge=abc', 'invalid_request'],
  ])('with %s is sent back with %s', async (change, error) => {
    const client = await registerClient(harness)
    const url = new URL(authorizeUrl({ client }), 'https://api.test')
    for (const [name, value] of new URLSearchParams(change)) url.searchParams.set(name, value)
    const { at } = await new Browser(harness.server()).go(url.pathname + url.search)
    expect(at.startsWith(callback), at).toBe(true)
    expect(at).toContain(`error=${error}`)
    expect(at).toContain('state=a')
  })

  it('of an unknown client is answered with a page', async () => {
    const { status, html } = await new Browser(harness.server()).go(
      authorizeUrl({ client: { client_id: 'oac_unknown' } }),
    )
    expect(status).toBe(400)
    expect(html).toContain('<h1>')
  })
})

describe('the token endpoint', () => {
  it.each([
    [{}, 400, 'invalid_request'],
    [{ grant_type: 'password' }, 400, 'unsupported_grant_type'],
    [{ grant_type: 'client_credentials' }, 400, 'unsupported_grant_type'],
    [{ grant_type: 'implicit' }, 400, 'unsupported_grant_type'],
    [{ grant_type: 'authorization_code' }, 400, 'invalid_request'],
    [{ grant_type: 'authorization_code', code: 'x', redirect_uri: callback }, 400, 'invalid_grant'],
    [{ grant_type: 'refresh_token', refresh_token: 'x' }, 400, 'invalid_grant'],
    [{ client_secret: 'wrong' }, 401, 'invalid_client'],
    [{ client_secret: undefined }, 401, 'invalid_client'],
    [{ client_id: 'oac_unknown' }, 401, 'invalid_client'],
  ])('answers %o with %i %s', async (change, status, error) => {
    const { client_id, client_secret } = await registerClient(harness)
    const { headers, ...answer } = await postToken(harness, { client_id, client_secret, ...change })
    expect(answer).toMatchObject({ status, body: { error, error_description: expect.any(String) } })
    expect(headers['cache-control']).toContain('no-store')
    expect(answer.body).not.toHaveProperty('success')
  })

  it.each([
    ['application/json', '{', 400],
    ['application/json', '[]', 400],
    ['application/json', '{"grant_type":{"a":1}}', 400],
    ['application/json', '"text"', 400],
    ['text/plain', 'x', 415],
    ['application/x-www-form-urlencoded', `a=${'x'.repeat(100_000)}`, 413],
  ])('answers %s %.20s with %i, as the RFC has errors', async (type, payload, status) => {
    const headers = { 'content-type': type }
    const response = await harness.server().inject({ method: 'POST', url: '/oauth/token', headers, payload })
    expect(response.statusCode).toBe(status)
    expect(response.json()).toMatchObject({ error: 'invalid_request' })
  })

  it('takes POST alone', async () => {
    for (const url of ['/oauth/token', '/oauth/revoke']) {
      const response = await harness.server().inject({ method: 'GET', url })
      expect(response.statusCode).toBe(405)
      expect(response.headers.allow).toBe('POST')
    }
  })

  it('is on the production host alone', async () => {
    const response = await harness.server('sandbox').inject({ method: 'POST', url: '/oauth/token' })
    expect(response.statusCode).toBe(404)
  })
})

describe('a request that makes no sense', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const json = { 'content-type': 'application/json' }
  it.each([
    ['GET', '/oauth/authorize', {}, ''],
    ['GET', '/oauth/authorize?client_id=%00', {}, ''],
    ['GET', '/oauth/authorize?client_id[]=a&redirect_uri=%FF', {}, ''],
    ['GET', '/oauth/authorize/unknown', {}, ''],
    ['GET', '/oauth/interaction/unknown', {}, ''],
    ['POST', '/oauth/interaction/unknown', {}, ''],
    ['POST', '/oauth/interaction/unknown', form, 'action=allow'],
    ['POST', '/oauth/token', form, 'client_id=%00&client_secret=%00&grant_type=authorization_code&code=%00'],
    [
      'POST',
      '/oauth/token',
      json,
      '{"client_id":"\\u0000","client_secret":"x","grant_type":"refresh_token"}',
    ],
    ['POST', '/oauth/token', {}, ''],
    ['POST', '/oauth/revoke', form, 'token=%00&client_id=oac_%00'],
    ['POST', '/oauth/sign-out/confirm', form, 'xsrf=x'],
    ['POST', '/account/forgot-password', {}, ''],
    ['POST', '/account/forgot-password', json, '{"email":"a@example.com"}'],
    ['POST', '/account/forgot-password', form, 'email=%00@example.com'],
    ['POST', '/account/reset-password', json, '{"token":"x"}'],
    ['POST', '/account/reset-password', form, 'token=%00&password=long+enough%00'],
  ] as const)('is refused: %s %s %o %s', async (method, url, headers, payload) => {
    const response = await harness.server().inject({ method, url, headers, payload })
    expect(response.statusCode, response.body).toBeGreaterThanOrEqual(400)
    expect(response.statusCode, response.body).toBeLessThan(500)
  })

  it('with a NUL in the sign-in form is a wrong password', async () => {
    const client = await registerClient(harness)
    const browser = new Browser(harness.server())
    const page = await browser.go(authorizeUrl({ client }))
    const answer = await browser.go(page.at, { email: 'a\0@example.com', password: '\0', action: 'sign-in' })
    expect(answer.status).toBe(401)
    expect((await browser.go(page.at, {})).status).toBe(401)
  })
})

describe('a refresh after the key that seals was lost', () => {
  it('is refused like an unknown one', async () => {
    const client = await registerClient(harness)
    const tokens = await obtainTokens(harness, { client })
    await harness.sql`update oauth_records set sealed_payload = 'gone.xxxx' where client_id = ${client.client_id}`
    expect(await refresh(harness, client, tokens.refresh_token)).toMatchObject(refused)
  })
})

describe('a code', () => {
  it('that is used again is refused, and everything issued for it is revoked', async () => {
    const client = await registerClient(harness)
    const code = await codeFor(client)
    const { body } = await exchange(harness, client, code)
    await scenario({ as: body.access_token, get: '/v1/properties', status: 200 })
    expect(await exchange(harness, client, code)).toMatchObject(refused)
    await scenario({ as: body.access_token, get: '/v1/properties', status: 401 })
    expect(await refresh(harness, client, body.refresh_token)).toMatchObject(refused)
  })

  it('of another client is refused', async () => {
    const [client, thief] = [await registerClient(harness), await registerClient(harness)]
    const code = await codeFor(client)
    expect(await exchange(harness, thief, code)).toMatchObject(refused)
    expect((await exchange(harness, client, code)).status).toBe(200)
  })

  it('is bound to its verifier', async () => {
    const client = await registerClient(harness)
    const verifier = newVerifier()
    const code = await codeFor(client, { verifier })
    expect(await exchange(harness, client, code)).toMatchObject(refused)
    expect(await exchange(harness, client, code, { code_verifier: newVerifier() })).toMatchObject(refused)
    expect((await exchange(harness, client, code, { code_verifier: verifier })).status).toBe(200)
  })

  it('given without a challenge is not exchanged with a verifier', async () => {
    const client = await registerClient(harness)
    const answer = await exchange(harness, client, await codeFor(client), { code_verifier: newVerifier() })
    expect(answer.status).toBe(400)
  })

  it('is valid for five minutes', async () => {
    const client = await registerClient(harness)
    const code = await codeFor(client)
    harness.clock.advance(300_000)
    expect(await exchange(harness, client, code)).toMatchObject(refused)
  })

  it('has one winner of fifty exchanges at once, and the winner keeps its tokens', async () => {
    const client = await registerClient(harness)
    const code = await codeFor(client)
    const answers = await Promise.all(Array.from({ length: 50 }, () => exchange(harness, client, code)))
    const [won, ...more] = answers.filter(({ status }) => status === 200)
    expect(more).toEqual([])
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(49)
    await scenario({ as: won!.body.access_token, get: '/v1/properties', status: 200 })
    const [row] =
      await harness.sql`select count(*)::int as n from oauth_records where model = 'AccessToken' and client_id = ${client.client_id}`
    expect(row!.n).toBe(1)
  })
})

describe('a refresh token', () => {
  it('that is used again is refused, and the whole family ends', async () => {
    const client = await registerClient(harness)
    const first = await obtainTokens(harness, { client })
    const { body: second } = await refresh(harness, client, first.refresh_token)
    await scenario({ as: second.access_token, get: '/v1/properties', status: 200 })
    expect(await refresh(harness, client, first.refresh_token)).toMatchObject(refused)
    await scenario({ as: second.access_token, get: '/v1/properties', status: 401 })
    await scenario({ as: first.access_token, get: '/v1/properties', status: 401 })
    expect(await refresh(harness, client, second.refresh_token)).toMatchObject(refused)
  })

  it('of another client is refused', async () => {
    const [client, thief] = [await registerClient(harness), await registerClient(harness)]
    const tokens = await obtainTokens(harness, { client })
    expect(await refresh(harness, thief, tokens.refresh_token)).toMatchObject(refused)
    expect((await refresh(harness, client, tokens.refresh_token)).status).toBe(200)
  })

  it('has one winner of fifty at once, and the winner keeps its tokens', async () => {
    const client = await registerClient(harness)
    const tokens = await obtainTokens(harness, { client })
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => refresh(harness, client, tokens.refresh_token)),
    )
    const [won, ...more] = answers.filter(({ status }) => status === 200)
    expect(more).toEqual([])
    await scenario({ as: won!.body.access_token, get: '/v1/properties', status: 200 })
    expect((await refresh(harness, client, won!.body.refresh_token)).status).toBe(200)
  })

  it('opens nothing by itself', async () => {
    const client = await registerClient(harness)
    const tokens = await obtainTokens(harness, { client })
    await scenario({ as: tokens.refresh_token, get: '/v1/properties', status: 401 })
    await scenario({ as: client.client_secret!, get: '/v1/properties', status: 401 })
    await scenario({ as: await codeFor(client), get: '/v1/properties', status: 401 })
  })
})
