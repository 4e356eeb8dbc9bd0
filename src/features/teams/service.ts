import { createRecord, updateRecord, type Versioned } from '../../events/change.ts'
import type { Tx } from '../../kernel/context.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { findTeam } from './queries.ts'
import { Team, type TeamCreate, type TeamUpdate } from './schema.ts'

export { listTeams, type TeamBrief, teamBriefs } from './queries.ts'

export async function getTeam(tx: Tx, id: string): Promise<Versioned<Team>> {
  const found = isId('team', id) ? await findTeam(tx, id) : undefined
  if (!found) throw notFound('team')
  return found
}

export async function createTeam(tx: Tx, body: TeamCreate): Promise<Versioned<Team>> {
  const now = tx.now.toISOString()
  const system = { id: tx.newId('team'), agents_count: 0, created_at: now, updated_at: now }
  const { record, problems } = Team.complete(body, system, tx.viewer.workspace)
  if (problems.length > 0) throw invalid(problems)
  await createRecord(tx, Team, record, [])
  return { record, version: 1 }
}

export async function updateTeam(
  tx: Tx,
  id: string,
  patch: TeamUpdate,
  ifMatch: string | undefined,
): Promise<Versioned<Team>> {
  if (!isId('team', id)) throw notFound('team')
  return updateRecord(tx, {
    resource: Team,
    find: (tx, lock) => findTeam(tx, id, lock),
    patch,
    ifMatch,
    defaults: tx.viewer.workspace,
    events: () => [],
  })
}
