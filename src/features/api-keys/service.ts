import type { Environment, Tx } from '../../kernel/context.ts'
import { invalidField, notFound } from '../../kernel/errors.ts'
import { anyOf, type Filter, type Filters } from '../../kernel/filters.ts'
import { isId } from '../../kernel/ids.ts'
import { listPage, type Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { booleanParam } from '../../kernel/query.ts'
import { testKeyScopes } from '../../kernel/scopes.ts'
import { type Fragment, raw, type Sql } from '../../kernel/sql.ts'
import { findSandbox } from '../workspaces/service.ts'
import { insertKey } from './queries.ts'
import { ApiKey, type ApiKeyCreate } from './schema.ts'
import { newKeyToken } from './token.ts'

export { insertKey } from './queries.ts'

const environmentOf = '(select environment from workspaces where workspaces.id = api_keys.workspace_id)'
const madeByInactive = `exists (select from agents where agents.workspace_id = api_keys.workspace_id
  and agents.id = api_keys.created_by and agents.status = 'inactive')`

const review: Filter<boolean> = {
  param: booleanParam('Only keys in use whose maker has been deactivated (`true`), or all others (`false`).'),
  where: (sql, wanted) => sql`(api_keys.revoked_at is null and ${raw(sql, madeByInactive)}) = ${wanted}`,
}

export const keyFilters: Filters = {
  environment: anyOf(
    environmentOf,
    'environment',
    ['production', 'sandbox'],
    'Only keys of this environment.',
  ),
  needs_review: review,
}

/** Of a production workspace: its keys and the test keys of its sandbox. */
export async function listApiKeys(tx: Tx, query: ListQuery): Promise<Page<ApiKey>> {
  return listPage(
    tx,
    {
      resource: ApiKey,
      filters: keyFilters,
      select: selected(tx.sql),
      alsoIn: await sandboxes(tx),
      fromRow: ApiKey.fromRow,
    },
    query,
  )
}

export async function getApiKey(tx: Tx, id: string): Promise<ApiKey> {
  const places = [tx.workspaceId, ...(await sandboxes(tx))]
  const [row] = isId('key', id)
    ? await tx.sql`select ${selected(tx.sql)} from api_keys where workspace_id = any(${places}) and id = ${id}`
    : []
  if (!row) throw notFound('API key')
  return ApiKey.fromRow(row)
}

export async function createApiKey(tx: Tx, body: ApiKeyCreate): Promise<ApiKey & { key: string }> {
  const here = tx.viewer.workspace.environment
  const environment = body.environment ?? here
  if (here === 'sandbox' && environment === 'production')
    throw invalidField('environment', 'must be sandbox here; live keys are made on the production host.')
  if (environment === 'sandbox' && body.scopes.some((scope) => !testKeyScopes.includes(scope)))
    throw invalidField('scopes', 'must not hold admin: test keys never administer.')
  if (body.expires_at && new Date(body.expires_at) <= tx.now)
    throw invalidField('expires_at', 'must be in the future.')
  const place = await placeFor(tx, environment)
  const key = newKeyToken(environment)
  const id = await insertKey(
    tx.sql,
    {
      ...place,
      name: body.name,
      scopes: body.scopes,
      token: key,
      expiresAt: body.expires_at ? new Date(body.expires_at) : null,
    },
    tx.now,
  )
  return { ...(await getApiKey(tx, id)), key }
}

/** Revoking twice changes nothing. */
export async function revokeApiKey(tx: Tx, id: string): Promise<void> {
  const places = [tx.workspaceId, ...(await sandboxes(tx))]
  const rows = isId('key', id)
    ? await tx.sql`
        update api_keys set revoked_at = coalesce(revoked_at, ${tx.now})
        where workspace_id = any(${places}) and id = ${id} returning 1`
    : []
  if (rows.length === 0) throw notFound('API key')
}

const selected = (sql: Sql): Fragment =>
  sql`${raw(sql, ApiKey.selectList)}, ${raw(sql, environmentOf)} as environment,
    api_keys.revoked_at is null and ${raw(sql, madeByInactive)} as needs_review`

async function sandboxes({ sql, viewer }: Tx): Promise<string[]> {
  if (viewer.workspace.environment === 'sandbox') return []
  const sandbox = await findSandbox(sql, viewer.workspace.id)
  return sandbox ? [sandbox] : []
}

/** The workspace a new key goes into, and the person who makes it as they are known there. */
async function placeFor(
  { sql, viewer, workspaceId }: Tx,
  environment: Environment,
): Promise<{ workspaceId: string; createdBy: string | null }> {
  if (environment === viewer.workspace.environment) return { workspaceId, createdBy: viewer.agentId }
  const sandboxId = (await findSandbox(sql, workspaceId))!
  const [agent] = await sql`
    select id from agents where workspace_id = ${sandboxId} and account_id = ${viewer.accountId}`
  return { workspaceId: sandboxId, createdBy: agent?.id ?? null }
}
