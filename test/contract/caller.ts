import { expect } from 'vitest'
import { findAccountByEmail, insertAccount } from '../../src/features/accounts/people.ts'
import { hashToken } from '../../src/kernel/credentials.ts'
import { errorCodes } from '../../src/kernel/errors.ts'
import type { Harness } from '../harness.ts'
import { expectDocumented } from '../reference.ts'
import { creates, type Operation } from './operations.ts'

export interface Request {
  method: string
  url: string
  /** The bearer token; the admin key unless given, none when null. */
  as?: string | null
  headers?: Record<string, string>
  /** An object is sent as JSON; text and bytes as they are. */
  body?: unknown
}

export interface Answer {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
  text: string
}

/** Sends requests of every kind, and holds each answer to what is true of all answers. */
export class Caller {
  readonly #harness: Harness
  readonly #requestIds: string[] = []
  readonly #ids = new Map<string, string>()
  #made = 0

  constructor(harness: Harness) {
    this.#harness = harness
  }

  async send(request: Request): Promise<Answer> {
    const { method, url, as = this.#harness.tenant.adminKey, headers, body } = request
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
    const response = await this.#harness.server().inject({
      method: method as 'GET',
      url,
      headers: {
        ...(as !== null && { authorization: `Bearer ${as}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: isRaw ? body : JSON.stringify(body) }),
    })
    const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json')
    const answer: Answer = {
      status: response.statusCode,
      headers: response.headers as Record<string, string>,
      body: isJson && response.body !== '' ? response.json() : undefined,
      text: response.body,
    }
    this.#requestIds.push(expectSound(`${method} ${url}`, answer))
    expectDocumented(method.toLowerCase(), url, answer)
    return answer
  }

  /** Calls an operation as its reference shows it, with records that exist, apart from what is given. */
  async call(operation: Operation, changes: Partial<Request> = {}): Promise<Answer> {
    const body = operation.body && (await this.exampleOf(operation))
    if (operation.isAction && changes.as === undefined) await this.#makeAnother(operation)
    const url = await this.urlOf(operation)
    return this.send({ method: operation.method, url, ...(body !== undefined && { body }), ...changes })
  }

  /** The address of an operation on a record that exists. */
  async urlOf(operation: Operation): Promise<string> {
    await this.#makeRecords()
    return operation.path.replaceAll(/(?<=^(.*?)\/)\{\w+\}/g, (_all, collection: string) => {
      return this.#ids.get(collection) ?? 'unknown_0'
    })
  }

  /** The example body of an operation, referring to records that exist. */
  async exampleOf(operation: Operation): Promise<unknown> {
    await this.#makeRecords()
    await needs[operation.spec.operationId!]?.(this.#harness, operation.body!.example)
    return this.#withRealIds(operation.body!.example)
  }

  /** The id of a record whose ids start like this one. */
  async idLike(id: string): Promise<string | undefined> {
    await this.#makeRecords()
    return this.#ids.get(prefixOf(id))
  }

  #withRealIds(example: unknown): unknown {
    const text = JSON.stringify(example).replaceAll(/"([a-z]+_)[0-9a-z]{26}"/g, (all, prefix: string) =>
      this.#ids.has(prefix) ? JSON.stringify(this.#ids.get(prefix)) : all,
    )
    // E-mail addresses may have to be unique, so no two examples share one.
    return JSON.parse(
      text.replaceAll(/"([\w.]+)@example\.com"/g, (_all, name) => `"${name}${this.#made++}@example.com"`),
    )
  }

  /** A new record for an action, which may work only once on each. */
  async #makeAnother({ path }: Operation): Promise<void> {
    await this.#makeRecords()
    const collection = path.slice(0, path.indexOf('/{'))
    const create = creates.find((operation) => operation.path === collection)
    if (!create) return
    const body = this.#withRealIds(create.body!.example)
    const answer = await this.send({ method: 'POST', url: collection, body })
    this.#ids.set(collection, answer.body.data.id)
  }

  // Creates one record of every kind from its own example; what refers to others waits until those are there.
  async #makeRecords(): Promise<void> {
    if (this.#ids.size > 0) return
    this.#ids.set('agent_', this.#harness.tenant.ownerId)
    let waiting = creates
    while (waiting.length > 0) {
      const left: Operation[] = []
      for (const operation of waiting) {
        const body = this.#withRealIds(operation.body!.example)
        const answer = await this.send({ method: 'POST', url: operation.path, body })
        if (answer.status !== 201) left.push(operation)
        else if (answer.body.data.id) {
          this.#ids.set(operation.path, answer.body.data.id)
          const prefix = prefixOf(answer.body.data.id)
          if (!this.#ids.has(prefix)) this.#ids.set(prefix, answer.body.data.id)
        }
      }
      if (left.length === waiting.length) {
        throw new Error(`The examples of these do not work: ${left.map(({ name }) => name).join(', ')}`)
      }
      waiting = left
    }
  }

  /** Every answer's request id must be in the log, and nothing that lets anybody in. */
  expectLogged(secrets: string[]): void {
    const lines = this.#harness.logLines
    const logged = new Set(lines.map((line) => JSON.parse(line).request))
    expect(this.#requestIds.filter((id) => !logged.has(id))).toEqual([])
    const all = lines.join('')
    for (const secret of [...secrets, 'Bearer', 'authorization']) {
      expect(all.includes(secret), `the log holds "${secret.slice(0, 12)}…"`).toBe(false)
    }
  }
}

/** What has to be there before the example of an open operation works: a person, or a link in their mailbox. */
const needs: Record<string, (harness: Harness, example: unknown) => Promise<unknown>> = {
  createSession: (harness, example) => ensureAccount(harness, example as SignIn),
  confirmPasswordReset: async (harness, example) => {
    const { token, password } = example as { token: string; password: string }
    const id = await ensureAccount(harness, { email: 'reset@example.com', password })
    const { sql, clock } = harness
    await sql`
      insert into password_resets (token_hash, account_id, created_at, expires_at)
      values (${hashToken(token)}, ${id}, ${clock.now()}, ${new Date(clock.now().getTime() + 60_000)})
      on conflict do nothing`
  },
}

interface SignIn {
  email: string
  password: string
}

async function ensureAccount({ sql, clock }: Harness, { email, password }: SignIn): Promise<string> {
  const known = await findAccountByEmail(sql, email)
  return known?.id ?? insertAccount(sql, { email, password, name: 'Example' }, clock.now())
}

const prefixOf = (id: string) => id.slice(0, id.indexOf('_') + 1)

/** What holds for every answer; gives its request id. */
export function expectSound(request: string, { status, headers, body, text }: Answer): string {
  const shown = `${request.slice(0, 200)} answered ${status}: ${text.slice(0, 300)}`
  expect(status, shown).toBeLessThan(500)
  const id = headers['x-request-id']
  expect(id, shown).toMatch(/^req_[\w-]{16}$/)
  if (status < 400 || request.startsWith('HEAD')) return id!
  expect(body, shown).toMatchObject({ success: false, error: { code: expect.any(String) } })
  expect(Object.keys(body), shown).toEqual(['success', 'error'])
  expect(body.error.message, shown).toEqual(expect.stringMatching(/\S/))
  expect(errorCodes[body.error.code as keyof typeof errorCodes]?.status, shown).toBe(status)
  if (status === 422) expect(body.error.details?.length, shown).toBeGreaterThan(0)
  return id!
}

export const wrongFields = (answer: Answer): string[] =>
  (answer.body.error.details ?? []).map((problem: { field: string }) => problem.field)
