import { newId } from '../../kernel/ids.ts'
import type { Sql } from '../../kernel/sql.ts'

export interface Notice {
  workspaceId: string
  /** What happened, in one word that the dashboard knows. */
  kind: 'webhook_disabled'
  message: string
  /** The record it is about. */
  resourceId: string
}

/** Leaves a note for the people of a workspace, in the transaction of what it tells of. */
export async function addNotice(sql: Sql, notice: Notice, now: Date): Promise<void> {
  await sql`
    insert into notices (workspace_id, id, kind, message, resource_id, created_at)
    values (${notice.workspaceId}, ${newId('notice', now)}, ${notice.kind}, ${notice.message}, ${notice.resourceId}, ${now})`
}
