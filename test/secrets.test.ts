import { expect, it } from 'vitest'
import { listMail } from '../src/features/mail/outbox.ts'
import { Browser } from './browser.ts'
import { password, useHarness } from './harness.ts'
import { authorizeUrl, exchange, newVerifier, refresh, registerClient } from './oauth.ts'

/** After everything that gives out a secret: none of them is in a dump of the database, and none in the log. */

const harness = useHarness()
const { scenario } = harness

async function dump(): Promise<Map<string, string>> {
  const { sql } = harness
  const tables = await sql`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`
  const text = new Map<string, string>()
  for (const { name } of tables) {
    const rows = await sql`select t::text as row from ${sql(name)} t`
    text.set(name, rows.map(({ row }) => row).join('\n'))
  }
  return text
}

/** Does everything there is and gives back the secrets by name. */
async function everySecret(): Promise<Record<string, string>> {
  const body = { name: 'Website', scopes: ['read:properties'] }
  const headers = { 'idempotency-key': 'once' }
  const live = await scenario({ post: '/v1/api-keys', body, headers, status: 201 })
  const test = await scenario({
    post: '/v1/api-keys',
    body: { ...body, environment: 'sandbox' },
    status: 201,
  })
  const session = await harness.signIn()
  const client = await registerClient(harness)
  const publicClient = { 'idempotency-key': 'a client' }
  const kept = await scenario({
    post: '/v1/oauth-clients',
    body: { name: 'Kept', redirect_uris: ['https://kept.example'], scopes: ['webhooks'] },
    headers: publicClient,
    status: 201,
  })

  const browser = new Browser(harness.server())
  const verifier = newVerifier()
  const signIn = await browser.go(authorizeUrl({ client, verifier }))
  await browser.go(signIn.at, {
    email: harness.tenant.ownerEmail,
    password: 'a wrong password',
    action: 'sign-in',
  })
  const consent = await browser.go(signIn.at, {
    email: harness.tenant.ownerEmail,
    password,
    action: 'sign-in',
  })
  // One sign-in is left half-way, so that its records are still there.
  const halfWay = await browser.go(authorizeUrl({ client }))
  const again = await new Browser(harness.server()).go(authorizeUrl({ client }))
  const back = await browser.go(consent.at, { workspace_id: harness.tenant.production.id, action: 'allow' })
  const code = new URL(back.at).searchParams.get('code')!
  const first = await exchange(harness, client, code, { code_verifier: verifier })
  const second = await refresh(harness, client, first.body.refresh_token)

  const email = harness.tenant.ownerEmail
  await scenario({ as: null, post: '/v1/password-resets', body: { email }, status: 202 })
  const [mail] = await listMail(harness.sql, harness.secrets)
  return {
    'live key': live.data.key,
    'test key': test.data.key,
    'admin key': harness.tenant.adminKey,
    session,
    'client secret': client.client_secret!,
    'kept client secret': kept.data.client_secret,
    'half-way sign-in': halfWay.at.split('/').at(-1)!,
    'unanswered sign-in': again.at.split('/').at(-1)!,
    ...Object.fromEntries(browser.seen.map((value, at) => [`cookie ${at}`, value])),
    code,
    verifier,
    'access token': first.body.access_token,
    'refresh token': first.body.refresh_token,
    'second access token': second.body.access_token,
    'second refresh token': second.body.refresh_token,
    'link in the mail': /token=([\w-]+)/.exec(mail!.text)![1]!,
    password,
    'a wrong password': 'a wrong password',
  }
}

it('no secret is in the database or in the log', async () => {
  const secrets = await everySecret()
  expect(Object.keys(secrets).length).toBeGreaterThan(18)
  for (const secret of Object.values(secrets)) expect(secret.length).toBeGreaterThan(12)
  const tables = await dump()
  for (const name of [
    'sessions',
    'oauth_records',
    'oauth_clients',
    'api_keys',
    'idempotency_keys',
    'mail',
    'password_resets',
  ])
    expect(tables.get(name), `${name} has no rows, so this shows nothing`).not.toBe('')
  const log = harness.logLines.join('')
  for (const [name, secret] of Object.entries(secrets)) {
    for (const [table, text] of tables)
      expect(text.includes(secret), `the ${name} is in ${table}`).toBe(false)
    expect(log.includes(secret), `the ${name} is in the log`).toBe(false)
  }
})
