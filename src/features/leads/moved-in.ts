import { type Batch, idsIn } from '../../events/batch.ts'
import { type Rows, rowsOf } from '../../events/record.ts'
import type { Tx } from '../../kernel/context.ts'
import type { Problem } from '../../kernel/errors.ts'
import { isTimestamp } from '../../kernel/formats.ts'
import { type Fragment, raw } from '../../kernel/sql.ts'
import { Activity } from './activity-schema.ts'
import { leadBatch } from './batch.ts'
import { Lead, type LeadCreate, type LeadStage, leadStages } from './schema.ts'
import { scoreOf } from './score.ts'
import { newLead } from './service.ts'

/*
 * Leads that come from elsewhere with a past: their stage, and how they came there. The past stands in
 * one cell, as `new@2026-01-31T09:30:00Z|contacted@…`. Who looked after them then follows after another `@`
 * where it is not who does so now; nothing after it means nobody.
 */

interface Stay {
  stage: LeadStage
  since: string
  /** Undefined for the agent they have now. */
  agent?: string | null
}

/** The agent's name in one item of a past. */
export const agentInStay = /(?<=^[^@]*@[^@]*@).+$/s

export type Past = Partial<Pick<Lead, 'id' | 'created_at' | 'updated_at' | 'stage' | 'loss_reason'>> & {
  stage_history?: string[]
}

/** The past of each lead of a list, for exports. */
export const stageHistory = ({ sql }: Tx): Fragment => sql`(
  select array_agg(a."to" || '@' || to_char(a."timestamp", 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    || case when a.agent_id is distinct from leads.assigned_agent then '@' || coalesce(a.agent_id, '') else '' end
    order by a."timestamp", a.id)
  from lead_activity a
  where a.workspace_id = leads.workspace_id and a.lead_id = leads.id
    and a.type in ('created', 'stage_change')) as stage_history`

/** As in lists, but for interests in what has been deleted since: nobody could bring these in again. */
export const leadsToMove = ({ sql }: Tx): Fragment =>
  raw(sql, Lead.selectList.replace('leads.interested_properties', remainingInterests))

const remainingInterests = `array(
  select interest from unnest(leads.interested_properties) with ordinality as interests (interest, nr)
  where exists (select from properties p where p.workspace_id = leads.workspace_id and p.id = interest)
    or exists (select from units u where u.workspace_id = leads.workspace_id and u.id = interest)
  order by nr) as interested_properties`

const histories = new WeakMap<Lead, Stay[]>()

/** The whole lead of a row, not yet written. */
export function leadWithPast(
  tx: Tx,
  body: LeadCreate,
  { stage_history, ...past }: Past,
): { record: Lead; problems: Problem[] } {
  const { record, problems } = newLead(tx, body)
  const stays = (stage_history ?? []).map(stayOf)
  if (!stays.every((stay) => stay !== undefined)) {
    problems.push({
      field: 'stage_history',
      message: 'must hold stages with their times, such as new@2026-01-31T09:30:00Z.',
    })
    return { record, problems }
  }
  if (!isInOrder(stays, tx.now)) {
    problems.push({ field: 'stage_history', message: 'must go forward in time, and not into the future.' })
    return { record, problems }
  }
  const stage = past.stage ?? stays.at(-1)?.stage ?? 'new'
  const lead = {
    ...record,
    ...past,
    stage,
    loss_reason: stage === 'lost' ? (past.loss_reason ?? 'other') : null,
  }
  const whole = { ...lead, score: scoreOf(lead, tx.now).score }
  histories.set(whole, stays.length > 0 ? stays : staysWithout(whole))
  return { record: whole, problems }
}

// All that is known then is where they are.
const staysWithout = ({ stage, created_at, updated_at }: Lead): Stay[] =>
  stage === 'new'
    ? [{ stage, since: created_at }]
    : [
        { stage: 'new', since: created_at },
        { stage, since: updated_at < created_at ? created_at : updated_at },
      ]

function stayOf(text: string): Stay | undefined {
  const [stage, since, agent] = text.split('@') as [string, string | undefined, string | undefined]
  const isKnown = leadStages.includes(stage as LeadStage) && since !== undefined && isTimestamp(since)
  if (!isKnown) return undefined
  const stay = { stage: stage as LeadStage, since: new Date(since).toISOString() }
  return agent === undefined ? stay : { ...stay, agent: agent || null }
}

const isInOrder = (stays: Stay[], now: Date): boolean =>
  [...stays.map(({ since }) => since), now.toISOString()].every(
    (time, at, all) => at === 0 || all[at - 1]! <= time,
  )

/** As other leads in bulk, but for their activity; and whoever looked after them may have left since. */
export const movedInBatch: Batch<Lead> = {
  ...leadBatch,
  references: {
    ...leadBatch.references,
    assigned_agent: idsIn('agents'),
  },
  along: (tx, leads) => [{ resource: Activity, rows: leads.flatMap((lead) => pastRows(tx, lead)) }],
}

function pastRows(tx: Tx, lead: Lead): Rows['rows'] {
  const stays = histories.get(lead) ?? staysWithout(lead)
  const entries = stays.map(({ stage, since, agent = lead.assigned_agent }, at) => {
    const before = stays[at - 1]
    const entry = {
      id: tx.newId('activity'),
      lead_id: lead.id,
      user: tx.viewer.agentId,
      type: before ? ('stage_change' as const) : ('created' as const),
      description: before
        ? `Stage changed from ${before.stage} to ${stage}.`
        : `Lead created from ${lead.source}.`,
      timestamp: since,
      from: before?.stage ?? null,
      to: stage,
    }
    const hidden = {
      agent_id: agent,
      contact: stage === 'contacted',
      since: before?.since ?? null,
    }
    return rowsOf(Activity, [entry], hidden).rows
  })
  return entries.flat()
}

/** Those of the leads that somebody has written about, or sold to. */
export async function leadsInUse({ sql, workspaceId }: Tx, ids: string[]): Promise<string[]> {
  const rows = await sql`
    select lead_id as id from ${raw(sql, 'lead_notes')} where workspace_id = ${workspaceId} and lead_id = any(${ids})
    union
    select lead_id from deals where workspace_id = ${workspaceId} and lead_id = any(${ids})`
  return rows.map((row) => row.id)
}

/** Those of the properties and units that a lead is interested in. */
export async function ofInterest({ sql, workspaceId }: Tx, ids: string[]): Promise<string[]> {
  const rows = await sql`
    select distinct interest as id from leads, unnest(leads.interested_properties) as interest
    where leads.workspace_id = ${workspaceId} and leads.interested_properties && ${ids} and interest = any(${ids})`
  return rows.map((row) => row.id)
}
