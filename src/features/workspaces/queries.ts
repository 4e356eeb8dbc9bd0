import type { Environment, Plan, Workspace } from '../../kernel/context.ts'
import { newId } from '../../kernel/ids.ts'
import type { CustomLimits } from '../../kernel/limits/plans.ts'
import type { Sql } from '../../kernel/sql.ts'

/** Workspaces are not inside a workspace: these statements are for operators and for start-up. */

export interface WorkspaceRow {
  id: string
  name: string
  plan: Plan
  api_access: boolean
  environment: Environment
  currency: string
  custom_limits: CustomLimits | null
  production_id: string | null
  created_at: string
}

export interface NewWorkspace {
  name: string
  plan: Plan
  currency: string
  apiAccess?: boolean
  customLimits?: CustomLimits | null
}

/** A production workspace and its sandbox. */
export async function insertWorkspacePair(
  sql: Sql,
  { name, plan, currency, apiAccess = true, customLimits = null }: NewWorkspace,
  now: Date,
): Promise<Record<Environment, Workspace>> {
  const productionId = newId('ws', now)
  const sandboxId = newId('ws', now)
  const common = {
    plan,
    api_access: apiAccess,
    currency,
    custom_limits: customLimits && sql.json(customLimits),
    created_at: now,
    updated_at: now,
  }
  await sql`insert into workspaces ${sql([
    { ...common, id: productionId, name, environment: 'production', production_id: null },
    {
      ...common,
      id: sandboxId,
      name: `${name} (sandbox)`,
      environment: 'sandbox',
      production_id: productionId,
    },
  ] as never)}`
  const workspace = { name, plan, apiAccess, currency, customLimits }
  return {
    production: { ...workspace, id: productionId, environment: 'production' },
    sandbox: { ...workspace, id: sandboxId, name: `${name} (sandbox)`, environment: 'sandbox' },
  }
}

export const listWorkspaces = (sql: Sql): Promise<WorkspaceRow[]> =>
  sql<WorkspaceRow[]>`
    select id, name, plan, api_access, environment, currency, custom_limits, production_id, created_at
    from workspaces order by coalesce(production_id, id), environment`

export const workspaceOf = (row: Omit<WorkspaceRow, 'created_at' | 'production_id'>): Workspace => ({
  id: row.id,
  name: row.name,
  plan: row.plan,
  apiAccess: row.api_access,
  environment: row.environment,
  currency: row.currency,
  customLimits: row.custom_limits,
})

export async function findWorkspace(sql: Sql, id: string): Promise<Workspace | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    select id, name, plan, api_access, environment, currency, custom_limits from workspaces where id = ${id}`
  return row && workspaceOf(row)
}

/** The sandbox of a production workspace. */
export async function findSandbox(sql: Sql, productionId: string): Promise<string | undefined> {
  const [row] = await sql`select id from workspaces where production_id = ${productionId}`
  return row?.id
}

/** For a production workspace and its sandbox alike, whichever of them is named. */
export const setCustomLimits = (
  sql: Sql,
  id: string,
  limits: CustomLimits | null,
  now: Date,
): Promise<unknown> =>
  sql`
    update workspaces set custom_limits = ${limits && sql.json(limits)}, updated_at = ${now}, version = version + 1
    where coalesce(production_id, id) = (select coalesce(production_id, id) from workspaces where id = ${id})`
