import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useHarness } from '../harness.ts'
import { type Answer, Caller, expectSound, wrongFields } from './caller.ts'
import { operations, withPathParameter } from './operations.ts'

/** Every query parameter and path parameter of the reference, filled with junk. */

const harness = useHarness()
const caller = new Caller(harness)
let port = 0

beforeAll(async () => {
  await harness.server().listen({ port: 0, host: '127.0.0.1' })
  port = (harness.server().server.address() as AddressInfo).port
})
afterAll(() => caller.expectLogged([harness.tenant.adminKey]))

/** As they stand in the address. None is the name or value of anything there is. */
const junk = [
  "'%20or%201=1--",
  '%22;drop%20table%20units;--',
  '%25',
  '%25%25%25',
  '__',
  '%5C',
  '%5C%27',
  '%00',
  'a%00b',
  '%',
  '%zz',
  '%ff%fe',
  '%ED%A0%80',
  '%F0%9F%8F%A0',
  '%E2%80%AE',
  '-1',
  '1e309',
  'NaN',
  '99999999999999999999',
  '0x10',
  '[]',
  '{}',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '2026-02-30',
  ',',
  ',,,',
  'x'.repeat(501),
  'x'.repeat(5_000),
  'WyJjcmVhdGVkX2F0IiwiZGVzYyIsMSwyXQ',
  Buffer.from('["created_at","desc","2026-01-01T00:00:00Z","a\\u0000"]').toString('base64url'),
  Buffer.from('["created_at","desc","infinity","prop_1"]').toString('base64url'),
  Buffer.from('["created_at","desc",null,"prop_1"]').toString('base64url'),
  Buffer.from('["created_at","desc",{"a":1},"prop_1"]').toString('base64url'),
]

// What takes a file needs one first; its parameters are tried where files are.
const withQuery = operations.filter(({ method, query }) => method === 'GET' && query.length > 0)

describe.each(withQuery)('$name with junk in its query', (operation) => {
  it.each(operation.query)('for $name refuses it or finds nothing', async ({ name }) => {
    const url = await caller.urlOf(operation)
    for (const value of junk) {
      const answer = await caller.send({ method: operation.method, url: `${url}?${name}=${value}` })
      expect([200, 422], `${name}=${value.slice(0, 60)}: ${answer.text}`).toContain(answer.status)
      if (answer.status === 422) expect(wrongFields(answer)).toEqual([name])
      // Figures and files have no total.
      else if (answer.body?.meta) expect(answer.body.meta.total, `${name}=${value} found something`).toBe(0)
    }
  })

  it.each(operation.query)('refuses $name twice, and in brackets', async ({ name }) => {
    const url = await caller.urlOf(operation)
    const twice = await caller.send({ method: operation.method, url: `${url}?${name}=1&${name}=1` })
    expect(twice.status).toBe(422)
    expect(wrongFields(twice)).toEqual([name])
    for (const bracketed of [`${name}[]`, `${name}[a]`, `${name}%00`, name.toUpperCase()]) {
      const answer = await caller.send({ method: operation.method, url: `${url}?${bracketed}=1` })
      expect(answer.status, bracketed).toBe(422)
    }
  })

  it.each(operation.query)('takes or refuses an empty $name', async ({ name }) => {
    const url = await caller.urlOf(operation)
    for (const query of [`${name}=`, name, `&&${name}=&`]) {
      const answer = await caller.send({ method: operation.method, url: `${url}?${query}` })
      expect([200, 422], answer.text).toContain(answer.status)
    }
  })
})

// What takes a file answers 415 first where there is none.
describe.each(operations.filter(({ path }) => !path.endsWith('/import')))('$name', (operation) => {
  it('names every query parameter that it does not know', async () => {
    const answer = await caller.call(operation, {
      url: `${await caller.urlOf(operation)}?surprise=1&__proto__=2&status%5B%5D=3`,
    })
    expect(answer.status, answer.text).toBe(422)
    expect(wrongFields(answer).sort()).toEqual(['__proto__', 'status[]', 'surprise'])
  })
})

/** Over a socket: `inject` would tidy the path before the server sees it. */
async function sendRaw(method: string, path: string, body: unknown): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${harness.tenant.adminKey}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const outgoing = httpRequest({ port, host: '127.0.0.1', method, path, headers, agent: false })
  outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const received = await text(response)
  const answer = {
    status: response.statusCode!,
    headers: response.headers as Record<string, string>,
    body: JSON.parse(received),
    text: received,
  }
  expectSound(`${method} ${path}`, answer)
  return answer
}

const oddIds = [
  '%00',
  'prop_%00',
  '..',
  '../',
  '%2e%2e%2f',
  '..%2f..%2fhealthz',
  '%2F',
  'a'.repeat(150),
  'a'.repeat(201),
  'a'.repeat(8_000),
  '%F0%9F%8F%A0',
  "prop_'%20or%20'1'='1",
  '%25',
  '%',
  '%zz',
  '%ff',
  '%ED%A0%80',
  '.',
  '*',
  ':id',
  '%7Bid%7D',
  '__proto__',
  'constructor',
  ';',
  '%0d%0aSet-Cookie:a=b',
]

describe.each(withPathParameter)('$name', (operation) => {
  it('is 404 for an id with odd characters', async () => {
    const body = operation.body && (await caller.exampleOf(operation))
    for (const id of oddIds) {
      const path = operation.path.replaceAll(/\{\w+\}/g, id)
      const answer = await sendRaw(operation.method, path, body)
      expect(answer.status, `${path.slice(0, 80)}: ${answer.text}`).toBe(404)
      expect(answer.headers['set-cookie']).toBeUndefined()
    }
  })
})
