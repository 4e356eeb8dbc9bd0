import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../src/app.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { useHarness } from '../test/harness.ts'
import { PoliteClient } from './polite-client.ts'

const harness = useHarness()
let app: App
let url: string
let refusals = 0

beforeAll(async () => {
  app = await harness.buildApp(harness.sql, { clock: systemClock })
  const server = app.servers.production
  server.addHook('onResponse', async (_request, reply) => {
    if (reply.statusCode === 429) refusals++
  })
  url = await server.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app.close())

const tenant = async (burst: number) =>
  harness.createTenant({
    name: 'P',
    plan: 'professional',
    currency: 'USD',
    customLimits: { burst, minute: 5_000 },
  })

describe('the back-off example', () => {
  it('is never refused, however much it is given at once', async () => {
    refusals = 0
    const { adminKey } = await tenant(10)
    const client = new PoliteClient(url, adminKey)
    const startedAt = Date.now()
    const answers = await Promise.all(Array.from({ length: 45 }, () => client.fetch('/v1/rate-limit')))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(refusals).toBe(0)
    // Ten in a second: it waits, and not much longer than it must.
    expect(Date.now() - startedAt).toBeGreaterThan(3_000)
    expect(Date.now() - startedAt).toBeLessThan(12_000)
  })

  it('is refused once at most when somebody else has used up the budget', async () => {
    refusals = 0
    const { adminKey } = await tenant(5)
    await new Promise((resume) => setTimeout(resume, 1_000 - (Date.now() % 1_000)))
    const headers = { authorization: `Bearer ${adminKey}` }
    for (let i = 0; i < 5; i++) await fetch(`${url}/v1/rate-limit`, { headers })
    const client = new PoliteClient(url, adminKey)
    const answers = await Promise.all(Array.from({ length: 12 }, () => client.fetch('/v1/rate-limit')))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(refusals).toBeLessThanOrEqual(1)
  })

  it('stands in the documentation as it was run here', async () => {
    const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8')
    expect(await read('../docs/limits.md')).toContain(await read('polite-client.ts'))
  })
})
