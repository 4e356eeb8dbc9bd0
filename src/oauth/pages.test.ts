import { describe, expect, it } from 'vitest'
import { Browser } from '../../test/browser.ts'
import { inviteGuest } from '../../test/fixtures.ts'
import { password, useHarness } from '../../test/harness.ts'
import { authorizeUrl, callback, exchange, registerClient } from '../../test/oauth.ts'

const harness = useHarness()
const { scenario } = harness

const begin = async (options: { scope?: string; name?: string } = {}) => {
  const client = await registerClient(harness, options.name ? { name: options.name } : {})
  const browser = new Browser(harness.server())
  const page = await browser.go(authorizeUrl({ client, ...(options.scope && { scope: options.scope }) }))
  return { client, browser, page }
}
const owner = () => ({ email: harness.tenant.ownerEmail, password, action: 'sign-in' })

describe('the sign-in page', () => {
  it('is plain, labelled and locked down', async () => {
    const { page } = await begin({ name: 'Evil <script>alert(1)</script>' })
    expect(page.status).toBe(200)
    expect(page.html).toContain('<html lang="en">')
    expect(page.html).toContain('<label for="password">')
    expect(page.html).toContain('autocomplete="current-password"')
    expect(page.html).not.toContain('<script')
    const { headers } = await harness.server().inject({ url: '/account/forgot-password' })
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
    expect(headers['x-frame-options']).toBe('DENY')
    expect(headers['cache-control']).toBe('no-store')
  })

  it('asks again after a wrong password, with the address kept', async () => {
    const { browser, page } = await begin()
    const again = await browser.go(page.at, { ...owner(), password: 'wrong' })
    expect(again.status).toBe(401)
    expect(again.html).toContain('role="alert"')
    expect(again.html).toContain(harness.tenant.ownerEmail)
    expect((await browser.go(page.at, owner())).html).toContain('Allow Portal sync')
  })

  it('is slowed down like every sign-in', async () => {
    const tenant = await harness.createTenant({ name: 'Guessed', plan: 'professional', currency: 'USD' })
    const { browser, page } = await begin()
    const guess = { ...owner(), email: tenant.ownerEmail, password: 'wrong' }
    for (let i = 0; i < 5; i++) expect((await browser.go(page.at, guess)).status).toBe(401)
    expect((await browser.go(page.at, { ...guess, password })).status).toBe(429)
  })

  it('can be left', async () => {
    const { browser, page } = await begin()
    const { at } = await browser.go(page.at, { action: 'cancel' })
    expect(Object.fromEntries(new URL(at).searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'a state',
    })
  })

  it('is of no use to anybody without its cookie', async () => {
    const { page } = await begin()
    const stranger = await new Browser(harness.server()).go(page.at, owner())
    expect(stranger.status).toBe(400)
    expect(stranger.html).toContain('has expired')
  })
})

describe('the consent page', () => {
  it('says what, where and for whom, in words', async () => {
    const { browser, page } = await begin({ scope: 'read:properties write:leads' })
    const { html } = await browser.go(page.at, owner())
    for (const text of [
      'Allow Portal sync to act for you?',
      harness.tenant.ownerEmail,
      'See properties and units',
      'Create and change leads',
      'Test Realty',
      'Sandbox: test data only',
      'app.example.com',
    ])
      expect(html).toContain(text)
    expect(html).not.toContain('read:properties')
  })

  it('offers all the workspaces of a person that have API access, and no other', async () => {
    const guest = await inviteGuest(harness, 'viewer')
    const starter = await harness.createTenant({ name: 'Tiny Starter', plan: 'starter', currency: 'USD' })
    await harness.sql`update agents set account_id = ${guest.home.accountId} where workspace_id = ${starter.production.id}`
    const { browser, page } = await begin()
    const consent = await browser.go(page.at, { ...owner(), email: guest.home.ownerEmail })
    expect(consent.html).toContain('In which workspace?')
    expect(consent.html).toContain('Test Realty')
    expect(consent.html).toContain('Home')
    expect(consent.html).not.toContain('Tiny Starter')
    const stranger = await harness.createTenant({ name: 'Stranger', plan: 'enterprise', currency: 'USD' })
    for (const workspace_id of [stranger.production.id, starter.production.id, '', 'ws_nope']) {
      const refused = await browser.go(consent.at, { workspace_id, action: 'allow' })
      expect(refused.status).toBe(422)
    }
  })

  it('can be refused', async () => {
    const { browser, page } = await begin()
    const consent = await browser.go(page.at, owner())
    const { at } = await browser.go(consent.at, { action: 'cancel' })
    expect(at.startsWith(callback)).toBe(true)
    expect(new URL(at).searchParams.get('error')).toBe('access_denied')
  })

  it('can be left for another account', async () => {
    const other = await harness.createTenant({ name: 'Second Home', plan: 'enterprise', currency: 'USD' })
    const { client, browser, page } = await begin()
    const consent = await browser.go(page.at, owner())
    const signIn = await browser.go(consent.at, { action: 'switch' })
    expect(signIn.html).toContain('Sign in')
    const second = await browser.go(signIn.at, { ...owner(), email: other.ownerEmail })
    expect(second.html).toContain('Second Home')
    const back = await browser.go(second.at, { workspace_id: other.production.id, action: 'allow' })
    const { body } = await exchange(harness, client, new URL(back.at).searchParams.get('code')!)
    const match = { id: other.production.id }
    await scenario({ as: body.access_token, get: '/v1/workspace', status: 200, match })
  })

  it('is asked every time, and remembers who is signed in for a while', async () => {
    const { client, browser, page } = await begin()
    const consent = await browser.go(page.at, owner())
    await browser.go(consent.at, { workspace_id: harness.tenant.production.id, action: 'allow' })
    const again = await browser.go(authorizeUrl({ client }))
    expect(again.html).toContain('Allow Portal sync')
    const silent = await browser.go(`${authorizeUrl({ client })}&prompt=none`)
    expect(new URL(silent.at).searchParams.get('error')).toMatch(/_required$/)
  })

  it('refuses a form that another site sends', async () => {
    const { page } = await begin()
    const response = await harness.server().inject({
      method: 'POST',
      url: page.at,
      headers: {
        origin: 'https://evil.example',
        cookie: 'plotbase_oauth_interaction=x',
        'content-type': 'application/x-www-form-urlencoded',
      },
      payload: 'action=cancel',
    })
    expect(response.statusCode).toBe(400)
  })
})
