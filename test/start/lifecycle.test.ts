import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  freePorts,
  inFolder,
  type Ports,
  plotbase,
  plotbaseOnce,
  portVariables,
  stopped,
  untilReady,
} from '../process.ts'

const keyIn = (output: string) => /Live key +(\S+)/.exec(output)?.[1]

/** A process that has just started on a busy machine may ask to come again in a moment. */
async function get(ports: Ports, key: string, path: string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` }
  for (let tries = 1; ; tries++) {
    const answer = await fetch(`http://127.0.0.1:${ports.production}${path}`, { headers })
    if (answer.status !== 503 || tries === 10) return answer
    await new Promise((resume) => setTimeout(resume, 500))
  }
}

async function createProperty(ports: Ports, key: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${ports.production}/v1/properties`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Kept', type: 'land', location: { city: 'Faro', country: 'PT' } }),
  })
  expect(answer.status).toBe(201)
  return ((await answer.json()) as { data: { id: string } }).data.id
}

describe('the life of a process', { timeout: 120_000 }, () => {
  it('starts in a folder with spaces, shows its secrets once, and starts again on the same data', () =>
    inFolder(async (folder) => {
      const ports = await freePorts()
      const env = { DATA_DIR: join(folder, 'our own dätä'), ...portVariables(ports) }
      const first = plotbase([], env)
      await untilReady(first, ports.production)
      const key = keyIn(first.output())!
      const curl = /^ {2}curl (\S+) -H "Authorization: (.+)"$/m.exec(first.output())!
      const called = await fetch(curl[1]!, { headers: { authorization: curl[2]! } })
      expect(called.status).toBe(200)
      expect(first.output()).toMatch(/Test key +pb_test_/)
      expect(first.output()).toMatch(/Password +\S{12,}/)
      const id = await createProperty(ports, key)
      expect(await stopped(first)).toEqual({ code: 0, signal: null })

      const second = plotbase([], env)
      await untilReady(second, ports.production)
      expect(second.output()).toContain(`http://127.0.0.1:${ports.production}/docs`)
      expect(second.output()).not.toMatch(/pb_live_|pb_test_|Password/)
      expect((await get(ports, key, `/v1/properties/${id}`)).status).toBe(200)
      await stopped(second, 'SIGINT')
    }))

  it('refuses a second process on the same data', () =>
    inFolder(async (folder) => {
      const ports = await freePorts()
      const env = { DATA_DIR: folder, ...portVariables(ports) }
      const first = plotbase([], env)
      await untilReady(first, ports.production)
      const second = await plotbaseOnce([], { ...env, ...portVariables(await freePorts()) })
      expect(second.code).toBe(1)
      expect(second.output).toMatch(
        new RegExp(`^plotbase: Another Plotbase process \\(pid ${first.child.pid}\\).*DATA_DIR.*\n$`),
      )
      await stopped(first)
    }))

  it('keeps what was committed when it is killed, and recovers by itself', () =>
    inFolder(async (folder) => {
      const ports = await freePorts()
      const env = { DATA_DIR: folder, ...portVariables(ports) }
      let running = plotbase([], env)
      await untilReady(running, ports.production)
      const key = keyIn(running.output())!
      const ids: string[] = []
      for (let round = 0; round < 3; round++) {
        ids.push(await createProperty(ports, key))
        await stopped(running, 'SIGKILL')
        running = plotbase([], env)
        await untilReady(running, ports.production)
      }
      for (const id of ids) expect((await get(ports, key, `/v1/properties/${id}`)).status).toBe(200)
      await stopped(running)
    }))

  it('finishes requests in flight before it stops', () =>
    inFolder(async (folder) => {
      const ports = await freePorts()
      const running = plotbase([], { DATA_DIR: folder, ...portVariables(ports) })
      await untilReady(running, ports.production)
      const key = keyIn(running.output())!
      const under = Promise.all(Array.from({ length: 40 }, () => createProperty(ports, key)))
      // The first bytes of all of them are with the server when the first answer is.
      await createProperty(ports, key)
      const end = stopped(running)
      await under
      const startedAt = Date.now()
      expect((await end).code).toBe(0)
      expect(Date.now() - startedAt).toBeLessThan(10_000)
    }))
})

describe('a start that cannot succeed', { timeout: 60_000 }, () => {
  const refusals: { because: string; says: RegExp; env(folder: string): Promise<Record<string, string>> }[] =
    [
      {
        because: 'DATABASE_URL cannot be reached',
        says: /^plotbase: The database in DATABASE_URL cannot be used \(ECONNREFUSED\)/,
        env: async () => ({ DATABASE_URL: 'postgres://somebody:hidden-word@127.0.0.1:1/none' }),
      },
      {
        because: 'DATABASE_URL is no address',
        says: /^plotbase: DATABASE_URL is not valid: it must be an address that starts with postgres:\/\//,
        env: async () => ({ DATABASE_URL: 'mysql://hidden-word@host' }),
      },
      {
        because: 'the data folder is a file',
        says: /DATA_DIR/,
        env: async (folder) => {
          await writeFile(join(folder, 'data'), 'not a folder')
          return { DATA_DIR: join(folder, 'data') }
        },
      },
      {
        because: 'the data was made by another PostgreSQL',
        says: /PostgreSQL 14/,
        env: async (folder) => {
          await mkdir(join(folder, 'postgres'))
          await writeFile(join(folder, 'postgres', 'PG_VERSION'), '14\n')
          await chmod(join(folder, 'postgres'), 0o700)
          return { DATA_DIR: folder }
        },
      },
      {
        because: 'PORT is no number',
        says: /^plotbase: PORT is not valid: it must be a whole number/,
        env: async () => ({ PORT: 'http' }),
      },
      {
        because: 'LOG_LEVEL is unknown',
        says: /^plotbase: LOG_LEVEL is not valid: it must be one of trace/,
        env: async () => ({ LOG_LEVEL: 'loud' }),
      },
      {
        because: 'BODY_LIMIT is no size',
        says: /^plotbase: BODY_LIMIT is not valid: it must be a size/,
        env: async () => ({ BODY_LIMIT: 'big' }),
      },
      {
        because: 'BOOTSTRAP_API_KEY is of the wrong kind',
        says: /^plotbase: BOOTSTRAP_API_KEY is not valid: it must be pb_live_/,
        env: async () => ({ BOOTSTRAP_API_KEY: 'pb_test_hidden-word' }),
      },
      {
        because: 'SECRET_KEY is short',
        says: /^plotbase: SECRET_KEY is not valid/,
        env: async () => ({ SECRET_KEY: 'hidden-word' }),
      },
    ]
  for (const { because, says, env } of refusals) {
    it(`ends in one sentence when ${because}`, () =>
      inFolder(async (folder) => {
        const { code, output } = await plotbaseOnce([], { DATA_DIR: folder, ...(await env(folder)) })
        expect(code).toBe(1)
        expect(output).toMatch(says)
        expect(output.trim().split('\n')).toHaveLength(1)
        expect(output).not.toContain('hidden-word')
      }))
  }

  it('names the variable when a port is taken, and leaves no database behind', () =>
    inFolder(async (folder) => {
      const ports = await freePorts()
      const other = createServer().listen(ports.sandbox, '127.0.0.1')
      const { code, output } = await plotbaseOnce([], {
        DATA_DIR: folder,
        LOG_LEVEL: 'silent',
        ...portVariables(ports),
      })
      other.close()
      expect(code).toBe(1)
      expect(output).toBe(
        `plotbase: Port ${ports.sandbox} is already in use; stop the program that has it, or set SANDBOX_PORT to another port.\n`,
      )
      const again = plotbase([], { DATA_DIR: folder, ...portVariables(ports) })
      await untilReady(again, ports.production)
      await stopped(again)
    }))
})
