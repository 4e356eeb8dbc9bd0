import type { Logger } from 'pino'
import type { Clock } from './clock.ts'
import type { Courier } from './courier.ts'
import { newId, type Prefix } from './ids.ts'
import type { CustomLimits } from './limits/plans.ts'
import type { Role, Scope } from './scopes.ts'
import { begin, type Pool, type Sql, type Transaction } from './sql.ts'
import type { Totals } from './totals.ts'

export const environments = ['production', 'sandbox'] as const
export type Environment = (typeof environments)[number]

export const plans = ['starter', 'professional', 'enterprise'] as const
export type Plan = (typeof plans)[number]

export interface Workspace {
  id: string
  name: string
  plan: Plan
  apiAccess: boolean
  environment: Environment
  currency: string
  customLimits: CustomLimits | null
}

/** Who asks: a credential, the workspace it acts in, and what it may do there. */
export interface Principal {
  kind: 'api_key' | 'session' | 'oauth'
  credentialId: string
  workspace: Workspace
  /** What it may do here: what was granted, cut by the person's role. */
  scopes: ReadonlySet<Scope>
  /** What was granted, whatever the role: the measure in another workspace, where the role may differ. */
  granted: ReadonlySet<Scope>
  /** The person behind the credential: for a key, whoever created it. */
  accountId: string | null
  agentId: string | null
  /** A person's own role and team. Keys have neither: they are bounded by their scopes alone. */
  role: Role | null
  teamId: string | null
}

/** Seals text for keeping and opens it again. */
export interface Secrets {
  seal(text: string): string
  open(sealed: string): string
}

/** How the world reaches us. */
export type Urls = Record<Environment | 'auth', string>

/** Everything one request carries through the layers. */
export interface Context {
  readonly requestId: string
  readonly principal: Principal
  /** The host that was asked. */
  readonly environment: Environment
  readonly urls: Urls
  readonly clock: Clock
  readonly log: Logger
  /** The pool, or the request's own transaction where it has one. */
  readonly sql: Sql
  readonly totals: Totals
  readonly secrets: Secrets
  readonly courier: Courier
}

/** The same, of an operation that asks for no credential: there is nobody yet. */
export type OpenContext = Omit<Context, 'principal'>

/** The door to a workspace's tables: statements run in it, and nothing else reaches them. */
export interface Tx {
  readonly sql: Sql
  readonly totals: Totals
  readonly secrets: Secrets
  readonly courier: Courier
  readonly workspaceId: string
  readonly viewer: Principal
  readonly now: Date
  readonly requestId: string | null
  newId(prefix: Prefix): string
}

export function inWorkspace<T>(ctx: Context, work: (tx: Tx) => Promise<T>): Promise<T> {
  return work(doorTo(ctx, ctx.sql))
}

/** The same, for work that needs several statements to succeed or fail together. */
export function inTransaction<T>(ctx: Context, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transaction(doorTo(ctx, ctx.sql), work)
}

/** Joins the transaction that is already open, or opens one. */
export function transaction<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (isTransaction(tx.sql)) return work(tx)
  return begin(tx.sql as Pool, (sql) => work({ ...tx, sql }))
}

const isTransaction = (sql: Sql): sql is Transaction => 'savepoint' in sql

function doorTo(ctx: Context, sql: Sql): Tx {
  const now = ctx.clock.now()
  return {
    sql,
    totals: ctx.totals,
    secrets: ctx.secrets,
    courier: ctx.courier,
    workspaceId: ctx.principal.workspace.id,
    viewer: ctx.principal,
    now,
    requestId: ctx.requestId,
    newId: (prefix) => newId(prefix, now),
  }
}
