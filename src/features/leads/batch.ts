import type { Batch, Reference } from '../../events/batch.ts'
import type { Rows } from '../../events/record.ts'
import type { Tx } from '../../kernel/context.ts'
import { nothing } from '../../kernel/sql.ts'
import { visibleUnits } from '../visibility/units.ts'
import { activityRows, createdEntries } from './activity.ts'
import { Activity } from './activity-schema.ts'
import { Lead } from './schema.ts'
import { scoreOf } from './score.ts'
import { createdEvents } from './service.ts'

/** Agents who can be given leads. The lock keeps a deactivation from overlooking the new leads. */
const assignable: Reference & { message: string } = Object.assign(
  async ({ sql, workspaceId }: Tx, ids: string[]) => {
    const rows = await sql`
      select id from agents
      where workspace_id = ${workspaceId} and id = any(${ids}) and status <> 'inactive' for share`
    return new Set(rows.map((row) => row.id as string))
  },
  { message: 'does not name an agent of this workspace who is active or invited.' },
)

const interesting: Reference & { message: string } = Object.assign(
  async (tx: Tx, ids: string[]) => {
    const { sql, workspaceId } = tx
    const visible = visibleUnits(tx)
    const rows = await sql`
      select id from properties where workspace_id = ${workspaceId} and id = any(${ids})
      union all
      select id from units where units.workspace_id = ${workspaceId} and units.id = any(${ids})
      ${visible ? sql`and ${visible}` : nothing(sql)}`
    return new Set(rows.map((row) => row.id as string))
  },
  { message: 'does not name a property or unit of this workspace.' },
)

export const leadBatch: Batch<Lead> = {
  resource: Lead,
  references: { assigned_agent: assignable, interested_properties: interesting },
  unique: { external_id: 'exact' },
  events: createdEvents,
  along: (tx, leads) => [allOf(leads.map((lead) => activityRows(tx, lead, createdEntries(lead))))],
  hidden: (tx, lead) => ({ score_falls_at: scoreOf(lead, tx.now).fallsAt }),
}

const allOf = (parts: Rows[]): Rows => ({ resource: Activity, rows: parts.flatMap(({ rows }) => rows) })
