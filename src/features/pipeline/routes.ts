import { inWorkspace } from '../../kernel/context.ts'
import { bodyOf, type Endpoint, endpoint, ok, updateBody } from '../../kernel/endpoint.ts'
import { choice, longText, money, reference, referenceTo } from '../../kernel/fields.ts'
import { dataOf } from '../../kernel/schemas.ts'
import { Agent } from '../agents/schema.ts'
import { Lead, leadStages, lossReasons } from '../leads/schema.ts'
import { deactivateAgent } from './deactivate.ts'
import { loseLead, moveToStage, updateLead } from './moves.ts'
import { winLead } from './win.ts'

const path = '/v1/leads/:id'
const tag = 'Leads'
const notes = longText({ description: 'Kept in the activity.', example: 'Called back the same day.' })
const theLead = { status: 200, description: 'The lead as it is now.', schema: dataOf(Lead.schema.read) }
const noSuchLead = { NOT_FOUND: 'There is no such lead.' }

export const pipelineRoutes: Endpoint[] = [
  endpoint({
    method: 'PUT',
    path,
    operationId: 'updateLead',
    tag,
    summary: 'Change a lead',
    description:
      'Changes the fields sent and leaves the rest. Emits `lead.updated`; `lead.stage_changed`, and `lead.won` or `lead.lost`, when the stage changed; `lead.assigned` when another agent got it; nothing when the values are the same as before. Leaving the stage won cancels the open deal.',
    scopes: ['write:leads'],
    body: updateBody(Lead, { stage: 'qualified', next_follow_up: '2026-02-14T09:00:00Z' }),
    success: theLead,
    errors: {
      ...noSuchLead,
      CONFLICT: 'Another lead has this external id.',
      PRECONDITION_FAILED: 'It has changed since the ETag in If-Match.',
    },
    handle: async ({ ctx, params, body, headers }) => {
      const change = await inWorkspace(ctx, (tx) => updateLead(tx, params.id!, body, headers['if-match']))
      return ok(change.record, change.version)
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/stage`,
    operationId: 'moveLead',
    tag,
    summary: 'Move a lead to a stage',
    description:
      'Emits `lead.stage_changed`, and `lead.won` or `lead.lost` when that is the stage; nothing when the lead is there already. Leaving the stage won cancels the open deal.',
    scopes: ['write:leads'],
    body: bodyOf({
      stage: choice(leadStages, 'lead_stage', { required: true, example: 'contacted' }),
      reason: longText({
        description: 'Why; of a lost lead, one of the loss reasons.',
        example: 'Answered our call.',
      }),
      notes,
    }),
    success: theLead,
    errors: noSuchLead,
    handle: async ({ ctx, params, body }) => {
      const moved = await inWorkspace(ctx, (tx) => moveToStage(tx, params.id!, body.stage, body))
      return ok(moved.record, moved.version)
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/won`,
    operationId: 'winLead',
    tag,
    summary: 'Win a lead',
    description:
      "Opens a deal and reserves the unit. The commission is the amount given, else the agent's rate times the value. Emits `lead.stage_changed`, `lead.won`, `deal.created`, `commission.calculated`, and for a unit `unit.updated`.",
    scopes: ['write:leads'],
    body: bodyOf({
      property_id: referenceTo(['prop', 'unit'], {
        required: true,
        description: 'The property or unit they buy.',
        example: 'prop_01k9x2r4t6v8y0a1c3e5g7j9m1',
      }),
      deal_value: money({ required: true, description: 'What they pay.', example: 420000 }),
      commission: money({ description: 'The amount agreed on.', example: 12600 }),
      notes: longText({ description: 'Kept with the deal.', example: 'Ten percent paid on signing.' }),
    }),
    success: theLead,
    errors: {
      ...noSuchLead,
      CONFLICT: 'The lead has a deal already, or the unit is sold or reserved by another deal.',
    },
    handle: async ({ ctx, params, body }) => {
      const won = await inWorkspace(ctx, (tx) => winLead(tx, params.id!, body))
      return ok(won.record, won.version)
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/lost`,
    operationId: 'loseLead',
    tag,
    summary: 'Give a lead up',
    description:
      'Emits `lead.stage_changed` and `lead.lost`; only `lead.updated` when it was lost already, for another reason.',
    scopes: ['write:leads'],
    body: bodyOf({
      reason: choice(lossReasons, 'loss_reason', { required: true, example: 'price_too_high' }),
      notes,
    }),
    success: theLead,
    errors: noSuchLead,
    handle: async ({ ctx, params, body }) => {
      const lost = await inWorkspace(ctx, (tx) => loseLead(tx, params.id!, body.reason, body.notes))
      return ok(lost.record, lost.version)
    },
  }),
  endpoint({
    method: 'POST',
    path: '/v1/agents/:id/deactivate',
    operationId: 'deactivateAgent',
    tag: 'Agents',
    summary: 'Deactivate an agent',
    description:
      'Ends the membership; the person’s tokens stop working at once, and all records stay. Emits `agent.deactivated`, and `lead.assigned` for each lead handed over. An agent who is inactive already stays as they are.',
    scopes: ['write:agents'],
    body: bodyOf({
      reassign_leads_to: reference('agent', {
        description: 'Another active agent, who gets all their leads.',
        example: 'agent_01k9x2t6w8y0a2c4e6g8j0m3p5',
      }),
      reason: longText({
        description: 'Why; told by `agent.deactivated` and kept in the activity of leads handed over.',
        example: 'Left the company.',
      }),
    }),
    success: {
      status: 200,
      description: 'The agent, now inactive.',
      schema: dataOf(withCount(Agent.schema.read)),
    },
    errors: { NOT_FOUND: 'There is no such agent.', CONFLICT: 'This is the last active owner.' },
    handle: async ({ ctx, params, body }) => {
      const { agent, leadsReassigned } = await inWorkspace(ctx, (tx) => deactivateAgent(tx, params.id!, body))
      return ok({ ...agent.record, leads_reassigned: leadsReassigned }, agent.version)
    },
  }),
]

function withCount(schema: typeof Agent.schema.read) {
  const properties = { ...(schema.properties as object), leads_reassigned: { type: 'integer', minimum: 0 } }
  return { ...schema, properties, required: [...(schema.required as string[]), 'leads_reassigned'] }
}
