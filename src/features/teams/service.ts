import type { Batch } from '../../events/batch.ts'
import { createRecord, updateRecord, type Versioned } from '../../events/change.ts'
import type { Tx } from '../../kernel/context.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { findTeam } from './queries.ts'
import { Team, type TeamCreate, type TeamUpdate } from './schema.ts'

export { listTeams, type TeamBrief, teamBriefs, teamFilters, teamSource, teamsWithAgents } from './queries.ts'

export const teamBatch: Batch<Team> = { resource: Team, references: {}, unique: {}, events: () => [] }

export async function getTeam(tx: Tx, id: string): Promise<Versioned<Team>> {
  const found = isId('team', id) ? await findTeam(tx, id) : undefined
  if (!found) throw notFound('team')
  return found
}

export async function createTeam(tx: Tx, body: TeamCreate): Promise<Versioned<Team>> {
  const { record, problems } = newTeam(tx, body)
  if (problems.length > 0) throw invalid(problems)
  await createRecord(tx, Team, record, [])
  return { record, version: 1 }
}

/** The whole team that a body stands for, not yet written. */
export function newTeam(tx: Tx, body: TeamCreate) {
  const now = tx.now.toISOString()
  const system = { id: tx.newId('team'), agents_count: 0, created_at: now, updated_at: now }
  return Team.complete(body, system, tx.viewer.workspace)
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
