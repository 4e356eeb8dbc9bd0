import { describe, expect, it } from 'vitest'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

const valid = {
  name: 'Portal sync',
  redirect_uris: ['https://portal.example.com/callback'],
  scopes: ['read:properties', 'write:leads'],
}
const register = async (body: object = {}) =>
  (await scenario({ post: '/v1/oauth-clients', body: { ...valid, ...body }, status: 201 })).data

describe('an OAuth client', () => {
  it('is registered with a secret that is shown once', async () => {
    const data = await register()
    expect(data).toEqual({
      ...valid,
      id: expect.stringMatching(/^oac_/),
      client_id: data.id,
      client_secret: expect.stringMatching(/^pb_oauth_[\w-]{43}$/),
      public: false,
      created_at: harness.clock.now().toISOString(),
    })
    const { client_secret, ...rest } = data
    expect((await scenario({ get: `/v1/oauth-clients/${data.id}`, status: 200 })).data).toEqual(rest)
    const list = await scenario({ get: '/v1/oauth-clients', status: 200 })
    expect(list.data).toContainEqual(rest)
    expect(list.text).not.toContain(client_secret)
    const [row] =
      await harness.sql`select oauth_clients::text as all from oauth_clients where id = ${data.id}`
    expect(row!.all).not.toContain(client_secret)
  })

  it('that is public has no secret', async () => {
    expect(await register({ public: true })).not.toHaveProperty('client_secret')
  })

  it.each([
    'http://localhost:8080/callback',
    'http://127.0.0.1/cb',
    'http://[::1]:9/cb',
    'https://a.example/?x=1',
  ])('may be reached at %s', async (uri) => {
    expect((await register({ redirect_uris: [uri] })).redirect_uris).toEqual([uri])
  })

  it.each([
    'http://portal.example.com/callback',
    'http://localhost.evil.example/callback',
    'https://portal.example.com/#fragment',
    'https://portal.example.com/#',
    'https://user@portal.example.com/',
    'https://user:password@portal.example.com/',
    'javascript:alert(1)',
    'custom://callback',
    '/callback',
  ])('may not be reached at %s', async (uri) => {
    const body = { ...valid, redirect_uris: ['https://ok.example', uri] }
    await scenario({ post: '/v1/oauth-clients', body, status: 422, wrong: ['redirect_uris[1]'] })
  })

  it('is deleted', async () => {
    const { id } = await register()
    await scenario({ delete: `/v1/oauth-clients/${id}`, status: 204 })
    await scenario({ get: `/v1/oauth-clients/${id}`, status: 404 })
    await scenario({ delete: `/v1/oauth-clients/${id}`, status: 404 })
  })

  it('is managed by admins alone', async () => {
    const key = await harness.createKey(harness.tenant.production, ['write:agents', 'webhooks'])
    await scenario({ as: key, get: '/v1/oauth-clients', status: 403 })
  })
})
