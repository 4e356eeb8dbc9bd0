import { listOf, text } from '../../kernel/fields.ts'
import { Agent, type AgentCreate } from '../agents/schema.ts'
import { agentBatch, agentsInUse, inviteAgain, mayGrant, newAgent, updateAgent } from '../agents/service.ts'
import { Deal } from '../deals/schema.ts'
import { dealBatch, dealOf, getDeal, leadsWithDealCancelled } from '../deals/service.ts'
import {
  agentInStay,
  leadsInUse,
  leadWithPast,
  movedInBatch,
  ofInterest,
  type Past,
} from '../leads/moved-in.ts'
import { Lead, type LeadCreate, type LeadUpdate } from '../leads/schema.ts'
import { updateLead } from '../pipeline/moves.ts'
import { Property, type PropertyCreate } from '../properties/schema.ts'
import { newProperty, propertiesWithUnits, propertyBatch, updateProperty } from '../properties/service.ts'
import { Team, type TeamCreate } from '../teams/schema.ts'
import { newTeam, teamBatch, teamsWithAgents, updateTeam } from '../teams/service.ts'
import { Unit, type UnitCreate } from '../units/schema.ts'
import { newUnit, unitBatch, updateUnit } from '../units/service.ts'
import { visibleUnits } from '../visibility/units.ts'
import {
  agentKind,
  type ImportResource,
  leadKind,
  propertyKind,
  type Restored,
  type Target,
  teamKind,
  unitKind,
} from './target.ts'

const dated = ['id', 'created_at', 'updated_at']
const nothing = async () => []

const properties: Target = {
  resource: Property,
  scope: 'write:properties',
  onDuplicate: 'skip',
  restores: dated,
  references: {},
  complete: (tx, body, restored) => completed(newProperty(tx, body as PropertyCreate), restored),
  batch: propertyBatch as never,
  update: (tx, id, patch) => updateProperty(tx, id, patch, undefined),
  inUse: async (tx, ids) => [...(await propertiesWithUnits(tx, ids)), ...(await ofInterest(tx, ids))],
}

const units: Target = {
  resource: Unit,
  scope: 'write:properties',
  onDuplicate: 'skip',
  restores: dated,
  sameWhen: { fields: ['property_id', 'unit_number'] },
  references: { property_id: [propertyKind], assigned_agent: [agentKind] },
  visible: visibleUnits,
  complete: (tx, body, restored) => completed(newUnit(tx, body as UnitCreate), restored),
  batch: unitBatch as never,
  update: (tx, id, patch) => updateUnit(tx, id, patch, undefined),
  inUse: ofInterest,
}

const leads: Target = {
  resource: Lead,
  scope: 'write:leads',
  onDuplicate: 'create',
  restores: [...dated, 'stage', 'loss_reason', 'stage_history'],
  extras: [{ path: ['stage_history'], name: 'stage_history', leaf: listOf(text({}, 400), {}, 1_000) }],
  sameWhen: { fields: ['email'], anyCase: true },
  references: {
    assigned_agent: [agentKind],
    interested_properties: [propertyKind, unitKind],
    stage_history: [agentKind],
  },
  nameWithin: { stage_history: agentInStay },
  complete: (tx, body, restored) => leadWithPast(tx, body as LeadCreate, restored as Past),
  batch: movedInBatch as never,
  update: (tx, id, patch) => updateLead(tx, id, patch, undefined),
  changesToo: ({ stage, loss_reason }, before) =>
    loss_reason && (stage ?? before.stage) === 'lost' ? { loss_reason } : {},
  follow: { stage: ['loss_reason', 'last_contacted'] },
  // One after the other: a lead that enters the stage contacted counts as contacted at that moment.
  restore: async (tx, id, { last_contacted, ...previous }) => {
    await updateLead(tx, id, previous, undefined)
    if (last_contacted !== undefined) await updateLead(tx, id, { last_contacted } as LeadUpdate, undefined)
  },
  undoingFails: async (tx, changed, during) => {
    const won = changed.filter(({ previous }) => previous.stage === 'won').map(({ id }) => id)
    const [first] = won.length > 0 ? await leadsWithDealCancelled(tx, won, during) : []
    return first && `It cancelled the open deal of ${first}, which cannot be opened again.`
  },
  inUse: leadsInUse,
}

const agents: Target = {
  resource: Agent,
  scope: 'write:agents',
  onDuplicate: 'skip',
  restores: [...dated, 'status'],
  sameWhen: { fields: ['email'], anyCase: true, whateverId: true },
  references: { team_id: [teamKind] },
  // Whoever is not inactive has to accept an invitation here, wherever they were active before.
  complete: (tx, body, { status, ...restored }) => {
    const { record, problems } = completed(newAgent(tx, body as AgentCreate), restored)
    const role = {
      field: 'role',
      message: `${record.role} can only be given by whoever has the scope admin.`,
    }
    return {
      record: status === 'inactive' ? { ...record, status: 'inactive', invitation_sent_at: null } : record,
      problems: mayGrant(tx, record.role) ? problems : [...problems, role],
    }
  },
  batch: agentBatch as never,
  afterCreate: async (tx, created, urls) => {
    for (const agent of created as Agent[]) {
      if (agent.status === 'invited') await inviteAgain(tx, agent, urls[tx.viewer.workspace.environment])
    }
  },
  update: (tx, id, patch, urls) =>
    updateAgent(tx, id, patch, undefined, urls[tx.viewer.workspace.environment]),
  inUse: agentsInUse,
}

const teams: Target = {
  resource: Team,
  scope: 'write:agents',
  onDuplicate: 'skip',
  restores: dated,
  sameWhen: { fields: ['name'], anyCase: true, whateverId: true },
  references: {},
  complete: (tx, body, restored) => completed(newTeam(tx, body as TeamCreate), restored),
  batch: teamBatch as never,
  update: (tx, id, patch) => updateTeam(tx, id, patch, undefined),
  inUse: teamsWithAgents,
}

const deals: Target = {
  resource: Deal,
  scope: 'write:leads',
  onDuplicate: 'skip',
  restores: Deal.columns.map(({ path }) => path[0]!),
  references: {
    lead_id: [leadKind],
    property_id: [propertyKind],
    unit_id: [unitKind],
    agent_id: [agentKind],
  },
  complete: (tx, _body, restored) => dealOf(tx, restored as Partial<Deal>),
  batch: dealBatch as never,
  update: async (tx, id) => getDeal(tx, id),
  inUse: nothing,
}

/** Everything that can be imported. */
export const targets: Record<ImportResource, Target> = { properties, units, leads, agents, teams, deals }

export function targetOf(resource: ImportResource): Target {
  return targets[resource]
}

function completed<R extends object, P>(
  { record, problems }: { record: R; problems: P },
  restored: Restored,
): { record: R & { id: string }; problems: P } {
  return { record: { ...record, ...restored } as R & { id: string }, problems }
}
