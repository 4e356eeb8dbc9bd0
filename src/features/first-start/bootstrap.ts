import { randomBytes } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import { type Environment, environments, type Workspace } from '../../kernel/context.ts'
import { hashToken } from '../../kernel/credentials.ts'
import { type Scope, scopes, testKeyScopes } from '../../kernel/scopes.ts'
import type { Pool, Sql } from '../../kernel/sql.ts'
import { insertAccount, insertMembership } from '../accounts/people.ts'
import { insertKey } from '../api-keys/service.ts'
import { newKeyToken } from '../api-keys/token.ts'
import { fillWithDemoData } from '../demo-data/fill.ts'
import { insertWorkspacePair } from '../workspaces/service.ts'

export interface BootstrapWishes {
  /** Make a first workspace when there is none. */
  wanted: boolean
  demoData: boolean
  ownerEmail: string | undefined
  ownerPassword: string | undefined
  apiKey: string | undefined
  testKey: string | undefined
}

/** What a first start made, to be shown once: nothing of it can be read again later. */
export interface FirstStart {
  workspace: Workspace
  ownerEmail: string
  ownerPassword: string
  keys: Record<Environment, string>
}

const bootstrapLock = 7_201_350_003
const keyScopes: Record<Environment, readonly Scope[]> = { production: scopes, sandbox: testKeyScopes }

/** Makes the first workspace, once, however many processes start at the same time; then sees to the operator's keys. */
export async function bootstrap(
  sql: Pool,
  clock: Clock,
  wishes: BootstrapWishes,
): Promise<FirstStart | undefined> {
  return (await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${bootstrapLock})`
    const [existing] =
      await tx`select id from workspaces where environment = 'production' order by created_at, id limit 1`
    if (existing) return installOperatorKeys(tx, existing.id, wishes, clock.now())
    return wishes.wanted ? makeFirstWorkspace(tx, wishes, clock.now()) : undefined
  })) as FirstStart | undefined
}

async function makeFirstWorkspace(sql: Sql, wishes: BootstrapWishes, now: Date): Promise<FirstStart> {
  const pair = await insertWorkspacePair(
    sql,
    { name: 'Demo Realty', plan: 'enterprise', currency: 'EUR' },
    now,
  )
  const email = wishes.ownerEmail ?? 'owner@demo-realty.example'
  const password = wishes.ownerPassword ?? randomBytes(12).toString('base64url')
  const person = { email, name: 'Demo Owner' }
  const accountId = await insertAccount(sql, { ...person, password }, now)
  const given = { production: wishes.apiKey, sandbox: wishes.testKey }
  const keys = { production: '', sandbox: '' }
  for (const environment of environments) {
    const workspaceId = pair[environment].id
    const ownerId = await insertMembership(sql, { ...person, workspaceId, accountId, role: 'owner' }, now)
    keys[environment] = given[environment] ?? newKeyToken(environment)
    await insertKey(
      sql,
      {
        workspaceId,
        name: 'First key',
        scopes: keyScopes[environment],
        token: keys[environment],
        createdBy: ownerId,
        bootstrap: given[environment] !== undefined,
      },
      now,
    )
    if (wishes.demoData) await fillWithDemoData(sql, pair[environment], now)
  }
  return { workspace: pair.production, ownerEmail: email, ownerPassword: password, keys }
}

/** Keys given by the operator are there after every start, also when they were added to the configuration later. */
async function installOperatorKeys(
  sql: Sql,
  productionId: string,
  wishes: BootstrapWishes,
  now: Date,
): Promise<undefined> {
  const given = { production: wishes.apiKey, sandbox: wishes.testKey }
  for (const environment of environments) {
    const token = given[environment]
    if (!token) continue
    const [known] = await sql`select 1 from api_keys where token_hash = ${hashToken(token)}`
    if (known) continue
    const [place] = await sql`
      select w.id, (select a.id from agents a where a.workspace_id = w.id and a.role = 'owner' order by a.created_at limit 1) as owner
      from workspaces w where ${environment === 'production' ? sql`w.id = ${productionId}` : sql`w.production_id = ${productionId}`}`
    const key = {
      workspaceId: place!.id,
      name: 'Operator key',
      scopes: keyScopes[environment],
      token,
      createdBy: place!.owner,
      bootstrap: true,
    }
    await insertKey(sql, key, now)
  }
}
