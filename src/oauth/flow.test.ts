import { describe, expect, it } from 'vitest'
import { useHarness } from '../../test/harness.ts'
import { authorize, exchange, refresh, registerClient } from '../../test/oauth.ts'

const harness = useHarness()
const { scenario } = harness

describe('the authorization-code flow', () => {
  it('gives tokens that work, and refreshes them', async () => {
    const client = await registerClient(harness)
    const back = await authorize(harness, { client })
    expect(back.origin + back.pathname).toBe('https://app.example.com/callback')
    expect(back.searchParams.get('state')).toBe('a state')
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
    await scenario({ as: body.access_token, get: '/v1/properties', status: 200 })
    const refreshed = await refresh(harness, client, body.refresh_token)
    expect(refreshed.body).toEqual({
      ...body,
      access_token: expect.any(String),
      refresh_token: expect.any(String),
    })
    await scenario({ as: refreshed.body.access_token, get: '/v1/properties', status: 200 })
  })
})
