import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { environments } from '../../src/kernel/context.ts'
import { scopes } from '../../src/kernel/scopes.ts'
import { useHarness } from '../harness.ts'
import { reference, resolved } from '../reference.ts'
import { Caller } from './caller.ts'
import { creates, type Operation, operations } from './operations.ts'

/** The reference is valid, complete, and true. */

const harness = useHarness()
const caller = new Caller(harness)

const ajv = new Ajv2020({ strict: false, allErrors: true })
;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
ajv.addSchema({ $id: 'reference', ...reference })

const pointer = (...parts: string[]) =>
  parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')

/** What is wrong with an example, by the schema that stands beside it. */
const sharedPlace = (listed: object) => (listed as { $ref: string }).$ref.slice(2).split('/')

function problemsOf(example: unknown, ...place: string[]): string | undefined {
  const validate = ajv.compile({
    $ref: `reference#/${pointer(...place, 'content', 'application/json', 'schema')}`,
  })
  return validate(example) ? undefined : ajv.errorsText(validate.errors)
}

describe('the document', () => {
  it('is valid OpenAPI 3.1 to a validator that is not ours', async () => {
    const validator = new Validator()
    const result = await validator.validate(structuredClone(reference))
    expect(result.errors).toBeUndefined()
    expect(result.valid).toBe(true)
    expect(validator.version).toBe('3.1')
  })

  it.each(environments)('is served by the %s host, without a credential', async (environment) => {
    const answer = await harness.server(environment).inject('/openapi.json')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    expect(answer.json()).toEqual(JSON.parse(JSON.stringify(reference)))
  })

  it('names every operation once', () => {
    const ids = operations.map(({ spec }) => spec.operationId)
    expect(ids.every((id) => /^[a-z][A-Za-z]+$/.test(id ?? ''))).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe.each(operations)('$name', (operation) => {
  const { spec, path, method, success } = operation
  const lower = method.toLowerCase()

  it('says what it does and what it needs', () => {
    expect(spec.summary).toMatch(/\S/)
    expect(spec.description).toMatch(/\S/)
    const needed = spec['x-required-scopes']
    expect(needed).toBeDefined()
    expect(scopes).toEqual(expect.arrayContaining(needed!))
    for (const scope of needed!) expect(spec.description).toContain(`\`${scope}\``)
    if (needed!.length === 0 && !operation.isPublic) expect(spec.description).toMatch(/any valid credential/i)
  })

  it('lists the errors it can answer with', () => {
    const expected = [
      ...(operation.isPublic ? [] : ['401', '403']),
      '429',
      '500',
      ...(spec.requestBody ? ['400', '413', '415', '422'] : []),
      ...(operation.hasPathParameter ? ['404'] : []),
    ]
    expect(Object.keys(spec.responses)).toEqual(expect.arrayContaining(expected))
  })

  it('shows a body that fits its own schema', () => {
    // Files have examples of their own for each kind that is taken.
    const kinds = Object.entries(spec.requestBody?.content ?? {}).filter(
      ([type]) => type !== 'application/json',
    )
    for (const [type, { example }] of kinds) expect(example, type).toMatch(/\S/)
    if (!operation.body) return
    expect(operation.body.example).toBeDefined()
    expect(problemsOf(operation.body.example, 'paths', path, lower, 'requestBody')).toBeUndefined()
  })

  it('shows answers that fit their own schemas', () => {
    expect(success).toBeGreaterThanOrEqual(200)
    for (const [status, listed] of Object.entries(spec.responses)) {
      const response = resolved(listed)
      expect(response.description, status).toMatch(/\S/)
      const content = response.content?.['application/json']
      if (status === '204') expect(content).toBeUndefined()
      else {
        expect(content?.example, status).toBeDefined()
        const place = '$ref' in listed ? sharedPlace(listed) : ['paths', path, lower, 'responses', status]
        expect(problemsOf(content!.example, ...place), status).toBeUndefined()
      }
    }
  })
})

describe.each(creates)('the example of $name', (operation: Operation) => {
  it('works as it is, with ids of records that exist', async () => {
    const sent = (await caller.exampleOf(operation)) as Record<string, unknown>
    const answer = await caller.call(operation, { body: sent })
    expect(answer.status, answer.text).toBe(201)
    expect(answer.body.data).toMatchObject(sent)
  })
})

describe.each(environments)('/docs on the %s host', (environment) => {
  const get = async (url: string) => harness.server(environment).inject(url)

  it('is a page whose scripts come from this process', async () => {
    const first = await get('/docs')
    const at = first.statusCode === 301 ? first.headers.location! : '/docs'
    const page = await get(at)
    expect(page.statusCode).toBe(200)
    expect(page.headers['content-type']).toMatch(/^text\/html/)
    const sources = [...page.body.matchAll(/<script[^>]*\ssrc=["']?([^"'\s>]+)/g)].map((match) => match[1]!)
    expect(sources.length).toBeGreaterThan(0)
    for (const source of sources) {
      const url = new URL(source, `http://here${at}`)
      expect(url.host, source).toBe('here')
      const script = await get(url.pathname)
      expect(script.statusCode).toBe(200)
      expect(script.headers['content-type']).toMatch(/javascript/)
      expect(script.body.length).toBeGreaterThan(100_000)
    }
  })

  it('loads nothing from anywhere else', async () => {
    const { body } = await get('/docs/')
    const loaded = [
      ...body.matchAll(/<(?:script|link|img|iframe|source|base)\b[^>]*\s(?:src|href)=["']?([^"'\s>]+)/g),
      ...body.matchAll(/url\(\s*["']?([^"')\s]+)/g),
      ...body.matchAll(/@import\s+["']([^"']+)/g),
      ...body.matchAll(/"(?:url|proxyUrl|cdn)":\s*"([^"]+)"/g),
    ].map((match) => match[1]!)
    expect(loaded.length).toBeGreaterThan(0)
    expect(loaded.filter((address) => /^([a-z]+:)?\/\//i.test(address))).toEqual([])
    // The viewer has fonts and telemetry on servers of its maker, unless it is told not to use them.
    expect(body).toMatch(/"withDefaultFonts": false/)
    expect(body).toMatch(/"telemetry": false/)
  })

  it('shows the document that the hosts serve', async () => {
    const { body } = await get('/docs/')
    const url = /"url":\s*"([^"]+)"/.exec(body)![1]!
    const answer = await get(new URL(url, 'http://here/docs/').pathname)
    expect(answer.statusCode).toBe(200)
    expect(Object.keys(answer.json().paths)).toEqual(Object.keys(reference.paths as object))
  })
})
