import { describe, expect, it } from 'vitest'
import { createWebhook } from '../../../test/delivering.ts'
import { useHarness } from '../../../test/harness.ts'
import { eventNames } from '../../events/catalog.ts'

const harness = useHarness()
const { scenario } = harness

const url = 'https://hooks.example.com/plotbase'
const unauthorised = { status: 403, error: { code: 'FORBIDDEN' } }

describe('a webhook', () => {
  it('is created with its defaults and a secret that is shown once', async () => {
    const { data, headers } = await scenario({
      post: '/v1/webhooks',
      body: { url, events: ['unit.sold', 'property.created'] },
      status: 201,
      match: {
        url,
        events: ['unit.sold', 'property.created'],
        format: 'current',
        active: true,
        disabled_reason: null,
        disabled_at: null,
        last_triggered: null,
        stats: { deliveries_total: 0, deliveries_successful: 0, deliveries_failed: 0 },
        created_at: '2026-03-01T09:00:00.000Z',
      },
      events: [],
    })
    expect(data.id).toMatch(/^webhook_/)
    expect(headers.location).toBe(`/v1/webhooks/${data.id}`)
    expect(data.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const { secret, ...rest } = data
    const { data: read } = await scenario({ get: `/v1/webhooks/${data.id}`, status: 200 })
    expect(read).toEqual(rest)
    const { data: listed } = await scenario({ get: '/v1/webhooks', status: 200 })
    expect(listed).toEqual([rest])
    const rows = await harness.sql`select * from webhooks`
    expect(JSON.stringify(rows)).not.toContain(secret)
    expect(harness.logLines.join('')).not.toContain(secret)
  })

  it('takes a secret, a format and a state', async () => {
    const given = { secret: 'sixteen letters!', format: 'legacy', active: false }
    const { data } = await scenario({
      post: '/v1/webhooks',
      body: { url, events: ['*'], ...given },
      status: 201,
      match: given,
    })
    await scenario({
      get: `/v1/webhooks/${data.id}`,
      status: 200,
      match: { format: 'legacy', active: false },
    })
  })

  it('subscribes to every event there is', async () => {
    expect(eventNames).toHaveLength(18)
    await scenario({
      post: '/v1/webhooks',
      body: { url, events: eventNames },
      status: 201,
      match: { events: eventNames },
    })
  })

  it.each([
    ['no URL', { events: ['*'] }, ['url']],
    ['no events', { url }, ['events']],
    ['an empty list of events', { url, events: [] }, ['events']],
    ['an unknown event', { url, events: ['unit.sold', 'unit.burnt'] }, ['events[1]']],
    ['the test event', { url, events: ['webhook.test'] }, ['events[0]']],
    ['an event twice', { url, events: ['unit.sold', 'unit.sold'] }, ['events']],
    ['a relative URL', { url: '/hook', events: ['*'] }, ['url']],
    ['a URL of another kind', { url: 'ftp://example.com', events: ['*'] }, ['url']],
    ['a URL without a host', { url: 'http:///example.com/x', events: ['*'] }, ['url']],
    ['a URL with a password', { url: 'https://me:secret@example.com', events: ['*'] }, ['url']],
    ['a URL that is too long', { url: `https://example.com/${'a'.repeat(2_048)}`, events: ['*'] }, ['url']],
    ['a short secret', { url, events: ['*'], secret: 'fifteen letters' }, ['secret']],
    ['a long secret', { url, events: ['*'], secret: 'x'.repeat(257) }, ['secret']],
    ['an unknown format', { url, events: ['*'], format: 'xml' }, ['format']],
    ['a state that is none', { url, events: ['*'], active: 'yes' }, ['active']],
    ['an unknown field', { url, events: ['*'], retries: 9 }, ['retries']],
    ['several at once', { url: 'x', events: [], secret: 's' }, ['events', 'secret', 'url']],
  ])('is refused with %s', async (_what, body, wrong) => {
    const [before] = await harness.sql`select count(*) from webhooks`
    await scenario({ post: '/v1/webhooks', body, status: 422, wrong })
    const [after] = await harness.sql`select count(*) from webhooks`
    expect(after).toEqual(before)
  })

  it.each([
    'http://127.0.0.1:8080/a',
    'http://127.1:8080/b',
    'http://2130706433:8080',
    'http://0x7f.1:8080?c',
    'http://0177.0.0.1:8080\\\\d',
    'http://127.0.0.1.:8080/e',
  ])('to %s counts towards the same receiver', async (url) => {
    const { data } = await scenario({ post: '/v1/webhooks', body: { url, events: ['*'] }, status: 201 })
    const hosts = () => harness.sql`select host from webhooks where id = ${data.id}`
    expect(await hosts()).toEqual([{ host: '127.0.0.1:8080' }])
    const body = { url: 'https://Hooks.Example.com./x' }
    await scenario({ put: `/v1/webhooks/${data.id}`, body, status: 200 })
    expect(await hosts()).toEqual([{ host: 'hooks.example.com' }])
  })

  it('takes a secret of 16 to 256 characters', async () => {
    for (const length of [16, 256])
      await scenario({
        post: '/v1/webhooks',
        body: { url, events: ['*'], secret: 'x'.repeat(length) },
        status: 201,
      })
  })

  it('is changed in the fields sent', async () => {
    const { secret, ...webhook } = await createWebhook(harness, url)
    harness.clock.advance(1_000)
    const { data, headers } = await scenario({
      put: `/v1/webhooks/${webhook.id}`,
      body: { events: ['unit.sold'], url: 'https://other.example.com/' },
      status: 200,
    })
    expect(data).toEqual({
      ...webhook,
      events: ['unit.sold'],
      url: 'https://other.example.com/',
      updated_at: harness.clock.now().toISOString(),
    })
    await scenario({ put: `/v1/webhooks/${webhook.id}`, body: { ...data, secret }, status: 200, match: data })
    await scenario({
      put: `/v1/webhooks/${webhook.id}`,
      body: { active: false },
      headers: { 'if-match': '"1-x"' },
      status: 412,
    })
    await scenario({
      put: `/v1/webhooks/${webhook.id}`,
      body: { active: false },
      headers: { 'if-match': headers.etag! },
      status: 200,
      match: { active: false, disabled_reason: null, disabled_at: null },
    })
  })

  it.each([
    ['an empty list of events', { events: [] }, ['events']],
    ['an unknown event', { events: ['nothing'] }, ['events[0]']],
    ['no URL', { url: null }, ['url']],
    ['a private URL', { url: 'http://10.0.0.1/' }, ['url']],
    ['another secret', { secret: 'another secret of mine' }, ['secret']],
    ['no state', { active: null }, ['active']],
  ])('is not changed with %s', async (_what, body, wrong) => {
    const { secret: _, ...webhook } = await createWebhook(harness, url)
    await scenario({ put: `/v1/webhooks/${webhook.id}`, body, status: 422, wrong })
    await scenario({ get: `/v1/webhooks/${webhook.id}`, status: 200, match: webhook })
  })

  it('gets a new secret, and keeps the old one for a day', async () => {
    const { id, secret } = await createWebhook(harness, url)
    const { data } = await scenario({
      post: `/v1/webhooks/${id}/rotate-secret`,
      status: 200,
      match: {
        id,
        secret: expect.stringMatching(/^whsec_/),
        previous_secret_expires_at: new Date(harness.clock.now().getTime() + 86_400_000).toISOString(),
      },
    })
    expect(data.secret).not.toBe(secret)
    expect(await harness.sql`select sealed_previous_secret from webhooks where id = ${id}`).toMatchObject([
      { sealed_previous_secret: expect.any(String) },
    ])
  })

  it('can be deleted, and is then gone for every operation', async () => {
    const { id } = await createWebhook(harness, url)
    await scenario({ delete: `/v1/webhooks/${id}`, status: 204, events: [] })
    const gone = { status: 404, error: { code: 'NOT_FOUND' } }
    await scenario({ get: `/v1/webhooks/${id}`, ...gone })
    await scenario({ put: `/v1/webhooks/${id}`, body: { active: true }, ...gone })
    await scenario({ delete: `/v1/webhooks/${id}`, ...gone })
    await scenario({ post: `/v1/webhooks/${id}/test`, ...gone })
    await scenario({ post: `/v1/webhooks/${id}/rotate-secret`, ...gone })
    await scenario({ post: `/v1/webhooks/${id}/recover`, body: { since: '2026-01-01T00:00:00Z' }, ...gone })
    await scenario({ get: `/v1/webhooks/${id}/deliveries`, ...gone })
    await scenario({ post: `/v1/webhooks/${id}/deliveries/del_1/retry`, ...gone })
  })

  it('of another workspace is not there', async () => {
    const stranger = await harness.createTenant({ name: 'Other', plan: 'enterprise', currency: 'USD' })
    const { id } = await createWebhook(harness, url)
    const as = stranger.adminKey
    await scenario({ as, get: `/v1/webhooks/${id}`, status: 404 })
    await scenario({ as, put: `/v1/webhooks/${id}`, body: { active: false }, status: 404 })
    await scenario({ as, delete: `/v1/webhooks/${id}`, status: 404 })
    await scenario({ as, get: '/v1/webhooks', status: 200, match: [] })
  })

  it('needs the scope webhooks', async () => {
    const as = await harness.createKey(harness.tenant.production, ['write:properties', 'write:leads'])
    const { id } = await createWebhook(harness, url)
    await scenario({ as, get: '/v1/webhooks', ...unauthorised })
    await scenario({ as, post: '/v1/webhooks', body: { url, events: ['*'] }, ...unauthorised })
    await scenario({ as, post: `/v1/webhooks/${id}/test`, ...unauthorised })
    await scenario({ as: harness.tenant.testKey, on: 'sandbox', get: '/v1/webhooks', status: 200 })
  })

  it('list pages, sorts by creation and shows the fields asked for', async () => {
    const { body } = await scenario({ get: `/v1/webhooks?per_page=2&order=asc&fields=url`, status: 200 })
    expect(body.data).toHaveLength(2)
    expect(Object.keys(body.data[0]).sort()).toEqual(['id', 'url'])
    expect(body.meta).toMatchObject({ page: 1, per_page: 2 })
    await scenario({ get: `/v1/webhooks?sort=url`, status: 422, wrong: ['sort'] })
    await scenario({ get: `/v1/webhooks?active=true`, status: 422, wrong: ['active'] })
  })
})
