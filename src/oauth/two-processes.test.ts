import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { useHarness } from '../../test/harness.ts'
import { authorize, callback, obtainTokens, postToken, registerClient } from '../../test/oauth.ts'
import type { App } from '../app.ts'
import { forgetExpiredSignIns } from '../features/accounts/expire.ts'
import { connect } from '../infra/db.ts'
import type { Pool } from '../kernel/sql.ts'

/** A second process on the same database: its own connections and its own memory of credentials. */

const harness = useHarness()
let second: App
let pool: Pool

beforeAll(async () => {
  pool = connect(harness.address, { max: 5 })
  second = await harness.buildApp(pool)
})
afterAll(async () => {
  await second.close()
  await pool.end()
})

const soon = { timeout: 5_000 }

const statuses = (token: string) =>
  Promise.all(
    [harness.app, second].map(async ({ servers }) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await servers.production.inject({ url: '/v1/workspace', headers })).statusCode
    }),
  )

/** Both know the token; then it is ended through the first. */
async function expectGone(token: string, end: () => Promise<unknown>): Promise<void> {
  expect(await statuses(token)).toEqual([200, 200])
  await end()
  await vi.waitFor(async () => expect(await statuses(token)).toEqual([401, 401]), soon)
}

describe('what ends in one process ends in the other', () => {
  it('a key', async () => {
    const body = { name: 'short', scopes: ['webhooks'] }
    const { data } = await harness.scenario({ post: '/v1/api-keys', body, status: 201 })
    await expectGone(data.key, () => harness.scenario({ delete: `/v1/api-keys/${data.id}`, status: 204 }))
  })

  it('a session', async () => {
    const session = await harness.signIn()
    await expectGone(session, () =>
      harness.scenario({ as: session, delete: '/v1/sessions/current', status: 204 }),
    )
  })

  it('an access token', async () => {
    const client = await registerClient(harness)
    const { access_token } = await obtainTokens(harness, { client })
    const { client_id, client_secret } = client
    await expectGone(access_token, () =>
      postToken(harness, { client_id, client_secret, token: access_token }, '/oauth/revoke'),
    )
  })
})

it('a code has one winner between the two', async () => {
  const { client_id, client_secret } = await registerClient(harness)
  const back = await authorize(harness, { client: { client_id } })
  const payload = JSON.stringify({
    grant_type: 'authorization_code',
    client_id,
    client_secret,
    code: back.searchParams.get('code'),
    redirect_uri: callback,
  })
  const headers = { 'content-type': 'application/json' }
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      [harness.app, second][i % 2]!.servers.production.inject({
        method: 'POST',
        url: '/oauth/token',
        headers,
        payload,
      }),
    ),
  )
  expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
  expect(answers.filter(({ statusCode }) => statusCode === 400)).toHaveLength(49)
})

it('what has expired is cleaned up, and nothing else', async () => {
  const client = await registerClient(harness)
  const tokens = await obtainTokens(harness, { client })
  await harness.signIn()
  const counts = async () => {
    const [row] = await harness.sql`
      select (select count(*)::int from sessions) as sessions,
        (select count(*)::int from oauth_records where model = 'RefreshToken' and client_id = ${client.client_id}) as refresh,
        (select count(*)::int from oauth_records where model = 'AuthorizationCode') as codes`
    return row
  }
  const before = await counts()
  await forgetExpiredSignIns(harness)
  expect(await counts()).toEqual(before)
  harness.clock.advance(86_400_000)
  await forgetExpiredSignIns(harness)
  expect(await counts()).toEqual({ sessions: 0, refresh: 1, codes: 0 })
  harness.clock.advance(31 * 86_400_000)
  await forgetExpiredSignIns(harness)
  const [left] = await harness.sql`select count(*)::int as n from oauth_records`
  expect(left!.n).toBe(0)
  expect(tokens.refresh_token).toBeDefined()
})
