import { randomBytes } from 'node:crypto'
import pino from 'pino'
import { afterAll, beforeAll, inject } from 'vitest'
import { type App, type AppDeps, buildApp } from '../src/app.ts'
import { createCourier } from '../src/delivery/courier.ts'
import type { Resolve } from '../src/delivery/resolve.ts'
import { insertAccount, insertMembership } from '../src/features/accounts/people.ts'
import { insertKey } from '../src/features/api-keys/queries.ts'
import { newKeyToken } from '../src/features/api-keys/token.ts'
import { insertWorkspacePair, type NewWorkspace } from '../src/features/workspaces/queries.ts'
import { connect, type DatabaseAddress } from '../src/infra/db.ts'
import { createSecrets } from '../src/infra/secrets.ts'
import type { Environment, Workspace } from '../src/kernel/context.ts'
import { type CustomLimits, customisable } from '../src/kernel/limits/plans.ts'
import { type Scope, scopes, testKeyScopes } from '../src/kernel/scopes.ts'
import type { Pool } from '../src/kernel/sql.ts'
import { ManualClock } from './clock.ts'
import { databaseNamed, templateName } from './global-setup.ts'
import { runScenario, type Scenario, type ScenarioAnswer } from './scenario.ts'

/** The password of everybody in tests. */
export const password = 'correct horse battery'

export { ManualClock }

export interface Tenant {
  production: Workspace
  sandbox: Workspace
  ownerId: string
  /** The owner as an agent of the sandbox. */
  sandboxOwnerId: string
  accountId: string
  ownerEmail: string
  adminKey: string
  testKey: string
}

// The clock of most tests stands still, so all their requests fall into one second.
const generous: CustomLimits = Object.fromEntries(customisable.map((window) => [window, 1_000_000]))

export class Harness {
  readonly clock = new ManualClock('2026-03-01T09:00:00.000Z')
  readonly secrets = createSecrets(['the key of all tests, long enough'])
  /** Sends to receivers on this machine. Names are looked up nowhere: see `resolve`. */
  readonly courier = createCourier({
    clock: this.clock,
    timeoutMs: 1_000,
    allowedNetworks: ['127.0.0.0/8'],
    resolve: (name) => this.resolve(name),
  })
  readonly urls = { production: 'https://api.test', sandbox: 'https://sandbox.test' }
  /** Every log line of the file, for tests that look for what must not be there. */
  readonly logLines: string[] = []
  sql!: Pool
  app!: App
  /** The workspace most tests work in. */
  tenant!: Tenant
  #database = ''

  /** What names lead to; a test may put another in its place. */
  resolve: Resolve = async () => [{ address: '93.184.215.14', family: 4 }]

  async start(): Promise<void> {
    this.#database = await cloneTemplate()
    this.sql = connect(this.address, { max: 10 })
    this.app = await this.buildApp()
    this.tenant = await this.createTenant({ name: 'Test Realty', plan: 'enterprise', currency: 'USD' })
  }

  /** Where the file's own database is, for other pools and other processes. */
  get address(): DatabaseAddress {
    return databaseNamed(inject('server'), this.#database)
  }

  /** Another app on the same database, as a second process would be. */
  buildApp(sql = this.sql, deps: Partial<AppDeps> = {}): Promise<App> {
    const log = pino({ level: 'debug' }, { write: (line: string) => void this.logLines.push(line) })
    return buildApp({
      sql,
      clock: this.clock,
      log,
      secrets: this.secrets,
      courier: this.courier,
      urls: this.urls,
      authUrl: this.urls.production,
      bodyLimitBytes: 1_048_576,
      importLimitBytes: 10_485_760,
      requestsPerAddress: 1_000_000,
      ...deps,
    })
  }

  async stop(): Promise<void> {
    await this.app.close()
    await this.courier.close()
    await this.sql.end()
    await dropDatabase(this.#database)
  }

  /** With limits that no test reaches by accident; `customLimits: null` gives those of the plan. */
  async createTenant(workspace: NewWorkspace): Promise<Tenant> {
    const now = this.clock.now()
    const pair = await insertWorkspacePair(this.sql, { customLimits: generous, ...workspace }, now)
    const person = { email: `owner.${randomBytes(4).toString('hex')}@example.com`, name: 'Olivia Owner' }
    const accountId = await insertAccount(this.sql, { ...person, password }, now)
    const member = { ...person, accountId, role: 'owner' as const }
    const ownerId = await insertMembership(this.sql, { ...member, workspaceId: pair.production.id }, now)
    const sandboxOwnerId = await insertMembership(this.sql, { ...member, workspaceId: pair.sandbox.id }, now)
    return {
      ...pair,
      accountId,
      ownerEmail: person.email,
      ownerId,
      sandboxOwnerId,
      adminKey: await this.createKey(pair.production, scopes, ownerId),
      testKey: await this.createKey(pair.sandbox, testKeyScopes, sandboxOwnerId),
    }
  }

  async createKey(
    workspace: Workspace,
    granted: readonly Scope[],
    createdBy: string | null = null,
  ): Promise<string> {
    const token = newKeyToken(workspace.environment)
    await insertKey(
      this.sql,
      { workspaceId: workspace.id, name: 'test', scopes: granted, token, createdBy },
      this.clock.now(),
    )
    return token
  }

  /** Signs a person in: their session token. */
  async signIn(email = this.tenant.ownerEmail): Promise<string> {
    const { data } = await this.scenario({
      as: null,
      post: '/v1/sessions',
      body: { email, password },
      status: 201,
    })
    return data.token
  }

  server(environment: Environment = 'production') {
    return this.app.servers[environment]
  }

  scenario = (scenario: Scenario): Promise<ScenarioAnswer> => runScenario(this, scenario)
}

/** A database of its own, migrated and empty. */
export async function cloneTemplate(template = templateName): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const admin = connect(inject('server'), { max: 1 })
  await admin`create database ${admin(name)} template ${admin(template)}`
  await admin.end()
  return name
}

export async function dropDatabase(name: string): Promise<void> {
  const admin = connect(inject('server'), { max: 1 })
  await admin`drop database ${admin(name)} with (force)`
  await admin.end()
}

/** A harness for the tests of one file: its own database, app and clock. */
export function useHarness(): Harness {
  const harness = new Harness()
  beforeAll(() => harness.start())
  afterAll(() => harness.stop())
  return harness
}
