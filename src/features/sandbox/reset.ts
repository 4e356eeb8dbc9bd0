import type { Logger } from 'pino'
import type { Clock } from '../../kernel/clock.ts'
import type { Workspace } from '../../kernel/context.ts'
import type { Pool, Sql } from '../../kernel/sql.ts'
import { fillWithDemoData } from '../demo-data/fill.ts'
import { workspaceOf } from '../workspaces/service.ts'
import { businessTables } from './tables.ts'

interface Deps {
  sql: Pool
  clock: Clock
  log: Logger
  demoData: boolean
}

const dayMs = 86_400_000

/** The last Sunday at 00:00 UTC. */
export function lastSunday(now: Date): Date {
  const midnight = Math.floor(now.getTime() / dayMs) * dayMs
  return new Date(midnight - new Date(midnight).getUTCDay() * dayMs)
}

/**
 * Resets every sandbox that has not been since Sunday. When it was last done stands with the workspace,
 * so a server that was down at midnight makes up for it, and one that starts twice does nothing twice.
 */
export async function resetDueSandboxes(deps: Deps): Promise<void> {
  const due = lastSunday(deps.clock.now())
  while (await resetNext(deps, due)) {
    // one after the other, each in a transaction of its own
  }
}

async function resetNext({ sql, clock, log, demoData }: Deps, due: Date): Promise<boolean> {
  const done = await sql.begin(async (tx) => {
    // Whoever locks the row does the work; the others find the next.
    const [row] = await tx`
      select id, name, plan, api_access, environment, currency, custom_limits from workspaces
      where environment = 'sandbox' and coalesce(last_reset_at, created_at) < ${due}
      order by id limit 1 for update skip locked`
    if (!row) return undefined
    const workspace = workspaceOf(row as never)
    await resetSandbox(tx, workspace, { demoData, now: clock.now() })
    return workspace.id
  })
  if (done) log.info({ workspace: done }, 'sandbox reset')
  return done !== undefined
}

/** Business records go, and the demo data comes back where there is any. People, keys and subscriptions stay. */
export async function resetSandbox(
  tx: Sql,
  workspace: Workspace,
  { demoData, now }: { demoData: boolean; now: Date },
): Promise<void> {
  if (workspace.environment !== 'sandbox') throw new Error('only a sandbox can be reset')
  for (const table of await businessTables(tx))
    await tx`delete from ${tx(table)} where workspace_id = ${workspace.id}`
  await tx`update workspaces set last_reset_at = ${now} where id = ${workspace.id}`
  if (demoData) await fillWithDemoData(tx, workspace, now)
}
