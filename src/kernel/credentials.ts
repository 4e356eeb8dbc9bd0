import { hash } from 'node:crypto'
import type { Clock } from './clock.ts'
import type { Environment, Principal } from './context.ts'

/** A credential as it was found, before it is checked against the request. */
export interface Credential {
  principal: Principal
  expiresAt: Date | null
}

/** One way of getting in: API keys, sessions, OAuth tokens. Each feature brings its own. */
export interface CredentialKind {
  recognises(token: string): boolean
  /**
   * Undefined for a token that is unknown, mistyped or revoked. The environment is that of the host
   * asked: a person's session works on both, in another workspace on each.
   */
  find(token: string, tokenHash: string, environment: Environment): Promise<Credential | undefined>
}

/** The person's place in another workspace; undefined where they have none. */
export type FindMembership = (principal: Principal, workspaceId: string) => Promise<Principal | undefined>

// NOTIFY clears the cache at once. This bounds how long a process that has lost its LISTEN connection can be wrong.
const trustedMs = 10_000
const mostRemembered = 50_000

export const hashToken = (token: string): string => hash('sha256', token)

/** Looks credentials up, and remembers the answers until something about credentials changes. */
export class Credentials {
  readonly #kinds: CredentialKind[]
  readonly #findMembership: FindMembership
  readonly #clock: Clock
  readonly #remembered = new Map<string, { value: Promise<unknown>; at: number }>()

  constructor(kinds: CredentialKind[], findMembership: FindMembership, clock: Clock) {
    this.#kinds = kinds
    this.#findMembership = findMembership
    this.#clock = clock
  }

  async find(token: string, environment: Environment): Promise<Principal | undefined> {
    const kind = this.#kinds.find((candidate) => candidate.recognises(token))
    if (!kind) return undefined
    const tokenHash = hashToken(token)
    const credential = await this.#remember(`${environment} ${tokenHash}`, () =>
      kind.find(token, tokenHash, environment),
    )
    if (!credential || isPast(credential.expiresAt, this.#clock)) return undefined
    return credential.principal
  }

  inWorkspace(principal: Principal, workspaceId: string): Promise<Principal | undefined> {
    return this.#remember(`${principal.credentialId} ${workspaceId}`, () =>
      this.#findMembership(principal, workspaceId),
    )
  }

  /** Called whenever a key, a person or a workspace changed, here or in another process. */
  forgetAll(): void {
    this.#remembered.clear()
  }

  // The promise is kept, not its value: a look-up that was under way when forgetAll() came is not remembered after it.
  #remember<T>(key: string, look: () => Promise<T>): Promise<T> {
    const known = this.#remembered.get(key)
    if (known && performance.now() - known.at < trustedMs) return known.value as Promise<T>
    if (this.#remembered.size >= mostRemembered) this.#remembered.clear()
    const entry = { value: look(), at: performance.now() }
    this.#remembered.set(key, entry)
    entry.value.catch(() => this.#remembered.delete(key))
    return entry.value
  }
}

const isPast = (expiresAt: Date | null, clock: Clock) => expiresAt !== null && expiresAt <= clock.now()
