import type { Environment, Plan } from '../../kernel/context.ts'
import type { Role } from '../../kernel/scopes.ts'
import type { Sql } from '../../kernel/sql.ts'

/** One of a person's workspaces, and what they are in it. */
export interface Membership {
  workspaceId: string
  name: string
  plan: Plan
  apiAccess: boolean
  environment: Environment
  currency: string
  agentId: string
  role: Role
  teamId: string | null
}

/** The workspaces a person is active in, oldest first; the first is the one they act in unless they say otherwise. */
export const membershipsOf = (
  sql: Sql,
  accountId: string,
  environment?: Environment,
): Promise<Membership[]> =>
  sql<Membership[]>`
    select w.id as "workspaceId", w.name, w.plan, w.api_access as "apiAccess", w.environment, w.currency,
      a.id as "agentId", a.role, a.team_id as "teamId"
    from active_members a join workspaces w on w.id = a.workspace_id
    where a.account_id = ${accountId}
      and ${environment ? sql`w.environment = ${environment}` : sql`true`}
    order by w.environment, a.created_at, w.id`
