import { connect as connectSocket } from 'node:net'
import { describe, expect, inject as injected, it } from 'vitest'
import { connect } from '../../src/infra/db.ts'
import { environments } from '../../src/kernel/context.ts'
import { databaseNamed } from '../global-setup.ts'
import { useHarness } from '../harness.ts'

/** What is true of the server whatever is asked of it. */

const harness = useHarness()
const { scenario } = harness

const bearer = () => ({ authorization: `Bearer ${harness.tenant.adminKey}` })
const ask = (method: string, url: string, headers: Record<string, string> = {}) =>
  harness.server().inject({ method: method as 'GET', url, headers })

describe('browsers of any origin', () => {
  const origin = { origin: 'https://elsewhere.example' }

  it('may read answers and refusals alike', async () => {
    for (const [url, headers] of [
      ['/v1/properties', { ...origin, ...bearer() }],
      ['/v1/properties', origin],
      ['/v1/nothing', origin],
    ] as const) {
      const answer = await ask('GET', url, headers)
      expect(answer.headers['access-control-allow-origin']).toBe('*')
      const exposed = String(answer.headers['access-control-expose-headers'])
      for (const name of ['X-Request-Id', 'ETag', 'Location', 'Retry-After']) expect(exposed).toContain(name)
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
    }
  })

  it('get their preflight answered without a credential', async () => {
    const answer = await ask('OPTIONS', '/v1/properties/prop_1', {
      ...origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization, content-type',
    })
    expect(answer.statusCode).toBe(204)
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    const methods = String(answer.headers['access-control-allow-methods'])
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) expect(methods).toContain(method)
    const headers = String(answer.headers['access-control-allow-headers']).toLowerCase()
    for (const name of ['authorization', 'content-type', 'x-workspace-id', 'idempotency-key', 'if-match'])
      expect(headers).toContain(name)
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
    expect(answer.headers['x-request-id']).toMatch(/^req_/)
  })

  it('are nobody by a cookie from another origin', async () => {
    const cookie = `token=${harness.tenant.adminKey}; session=${harness.tenant.adminKey}`
    expect((await ask('GET', '/v1/properties', { ...origin, cookie })).statusCode).toBe(401)
  })
})

describe('HEAD', () => {
  it('answers like GET, without the body', async () => {
    const got = await ask('GET', '/v1/properties', bearer())
    const head = await ask('HEAD', '/v1/properties', bearer())
    expect(head.statusCode).toBe(200)
    expect(head.body).toBe('')
    for (const name of ['etag', 'content-type', 'content-length'])
      expect(head.headers[name], name).toBe(got.headers[name])
    expect((await ask('HEAD', '/v1/properties')).statusCode).toBe(401)
    expect((await ask('HEAD', '/v1/properties/prop_nope', bearer())).statusCode).toBe(404)
  })
})

describe('paths', () => {
  it('mean the same with a slash at the end', async () => {
    const { data } = await scenario({
      post: '/v1/properties/',
      body: { name: 'Slash Court', type: 'villa', location: { city: 'Lisbon', country: 'PT' } },
      status: 201,
    })
    const answer = await ask('GET', `/v1/properties/${data.id}/`, bearer())
    expect(answer.json().data).toEqual(data)
  })

  it.each(['/', '/v1', '/v1/nothing', '/v2/properties', '/v1/properties/prop_1/nothing', '/V1/properties'])(
    'that do not exist, such as %s, are 404 in the envelope',
    async (url) => {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await ask(method, url)
        expect(answer.statusCode).toBe(404)
        expect(answer.headers['x-request-id']).toMatch(/^req_/)
        expect(answer.json()).toEqual({
          success: false,
          error: { code: 'NOT_FOUND', message: expect.stringContaining('/docs') },
        })
      }
    },
  )
})

describe('links of a list', () => {
  it('keep a query that has a question mark in it', async () => {
    const { body } = await scenario({ get: '/v1/properties?location=where?&per_page=5', status: 200 })
    const first = new URL(body.links.first, 'http://here').searchParams
    expect(Object.fromEntries(first)).toMatchObject({ location: 'where?', per_page: '5', page: '1' })
  })
})

describe('probes', () => {
  it.each(environments)('find the %s host alive and ready', async (environment) => {
    const server = harness.server(environment)
    expect((await server.inject('/healthz')).json()).toMatchObject({ status: 'ok' })
    const ready = await server.inject('/readyz')
    expect(ready.statusCode).toBe(200)
    expect(ready.json()).toMatchObject({ checks: { database: { ok: true }, migrations: { ok: true } } })
  })

  it('tell which check fails when the database is gone, and nothing of the inside', async () => {
    const [{ name }] = (await harness.sql`select current_database() as name`) as unknown as [{ name: string }]
    const address = databaseNamed(injected('server'), name)
    const sql = connect(address, { max: 2 })
    const app = await harness.buildApp(sql)
    await sql.end()

    const ready = await app.servers.production.inject('/readyz')
    expect(ready.statusCode).toBe(503)
    expect(ready.json()).toMatchObject({ checks: { database: { ok: false }, worker: { ok: true } } })
    const asked = await app.servers.production.inject({ url: '/v1/properties', headers: bearer() })
    expect(asked.statusCode).toBe(503)
    expect(asked.json().error).toMatchObject({
      code: 'UNAVAILABLE',
      request_id: asked.headers['x-request-id'],
    })
    for (const text of [ready.body, asked.body])
      for (const inside of [name, address.socket?.host, 'postgres', 'select', 'node_modules', ' at '])
        if (inside) expect(text).not.toContain(inside)
    expect((await app.servers.production.inject('/healthz')).statusCode).toBe(200)
    await Promise.all(Object.values(app.servers).map((server) => server.close()))
  })
})

describe('/metrics', () => {
  it('counts requests by their route, never by their address', async () => {
    await ask('GET', '/v1/properties/prop_counted', bearer())
    await ask('GET', '/v1/nothing-of-the-kind', bearer())
    const answer = await ask('GET', '/metrics')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^text\/plain/)
    const line = /^plotbase_http_requests_total\{(.*)\} \d+$/gm
    const counted = [...answer.body.matchAll(line)].map((match) => match[1]!)
    const wanted = ['environment="production"', 'method="GET"', 'route="/v1/properties/:id"', 'status="404"']
    expect(counted.some((labels) => wanted.every((label) => labels.includes(label)))).toBe(true)
    expect(answer.body).toMatch(/^# TYPE plotbase_http_request_seconds histogram$/m)
    for (const address of ['prop_counted', 'nothing-of-the-kind', harness.tenant.adminKey])
      expect(answer.body).not.toContain(address)
  })
})

describe('bytes that are no request', () => {
  const sendRaw = async (text: string): Promise<string> => {
    const server = harness.server()
    if (!server.server.listening) await server.listen({ port: 0, host: '127.0.0.1' })
    const { port } = server.server.address() as { port: number }
    return new Promise((resolve, reject) => {
      let received = ''
      const socket = connectSocket(port, '127.0.0.1', () => socket.write(text))
      socket.on('data', (chunk) => {
        received += chunk
      })
      socket.on('close', () => resolve(received))
      socket.on('error', reject)
    })
  }

  it.each([
    ['400', 'NONSENSE\r\n\r\n'],
    ['400', 'GET /v1/properties HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n'],
    ['431', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ])('are %s in the envelope, with a request id that is in the log', async (status, text) => {
    const [head, body] = (await sendRaw(text)).split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(JSON.parse(body!)).toMatchObject({ success: false, error: { code: 'BAD_REQUEST' } })
    const id = /x-request-id: (req_[\w-]+)/i.exec(head!)![1]!
    expect(harness.logLines.some((line) => line.includes(id))).toBe(true)
  })
})
