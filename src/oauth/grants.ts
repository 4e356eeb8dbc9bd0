import { hashToken } from '../kernel/credentials.ts'
import type { Sql } from '../kernel/sql.ts'

/** The workspace that a person consented for. */
export async function bindGrant(sql: Sql, grantId: string, workspaceId: string): Promise<void> {
  await sql`
    update oauth_records set granted_for = ${workspaceId}
    where model = 'Grant' and id_hash = ${hashToken(grantId)}`
}

/** Whether the person is still active where they consented: otherwise nothing new is issued. */
export async function isGrantAlive(sql: Sql, grantId: string, accountId: string): Promise<boolean> {
  const rows = await sql`
    select from oauth_records g
    join active_members a on a.workspace_id = g.granted_for and a.account_id = ${accountId}
    where g.model = 'Grant' and g.id_hash = ${hashToken(grantId)}`
  return rows.length > 0
}
