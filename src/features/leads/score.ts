import type { Lead } from './schema.ts'

/*
 * How promising a lead is, from 0 to 100: the sum of six parts. docs/scoring.md explains the table.
 * Five parts follow from what the lead says and change only with it. Recency falls with time alone,
 * in steps, so that a stored score stays right until the next step; `fallsAt` says when that is.
 */
export const weights = {
  source: { referral: 15, walk_in: 12, website: 10, portal: 8, social: 6, api: 5, manual: 5 },
  /** For each that is given. */
  completeness: { phone: 5, interested_properties: 5, tags: 2, notes: 3 },
  budget: { range: 15, oneEnd: 10 },
  /** The first row that covers the timeline counts. */
  timeline: [
    { upToMonths: 0, points: 20 },
    { upToMonths: 3, points: 16 },
    { upToMonths: 6, points: 11 },
    { upToMonths: 12, points: 6 },
    { upToMonths: 999, points: 2 },
  ],
  stage: { new: 5, contacted: 9, qualified: 15, viewing: 20, negotiation: 25, won: 25, lost: 0 },
  /** Days since the lead came or was last contacted. */
  recency: [
    { withinDays: 7, points: 10 },
    { withinDays: 30, points: 6 },
    { withinDays: 90, points: 3 },
  ],
} as const

export type ScoreInputs = Pick<
  Lead,
  | 'source'
  | 'phone'
  | 'interested_properties'
  | 'tags'
  | 'notes'
  | 'budget'
  | 'timeline'
  | 'stage'
  | 'created_at'
  | 'last_contacted'
>

export interface Score {
  score: number
  /** When time alone next lowers it; null once it cannot fall any further. */
  fallsAt: string | null
}

export function scoreOf(lead: ScoreInputs, now: Date): Score {
  const recency = recencyOf(lead, now)
  const score =
    weights.source[lead.source as keyof typeof weights.source] +
    completenessOf(lead) +
    budgetOf(lead) +
    timelineOf(lead) +
    weights.stage[lead.stage] +
    recency.points
  return { score, fallsAt: recency.fallsAt }
}

function completenessOf({ phone, interested_properties, tags, notes }: ScoreInputs): number {
  const { completeness } = weights
  return (
    (phone ? completeness.phone : 0) +
    (interested_properties.length > 0 ? completeness.interested_properties : 0) +
    (tags.length > 0 ? completeness.tags : 0) +
    (notes ? completeness.notes : 0)
  )
}

function budgetOf({ budget }: ScoreInputs): number {
  const ends = [budget?.min, budget?.max].filter((end) => end != null).length
  return ends === 2 ? weights.budget.range : ends === 1 ? weights.budget.oneEnd : 0
}

function timelineOf({ timeline }: ScoreInputs): number {
  if (timeline === null) return 0
  const months = timeline === 'immediate' ? 0 : Number.parseInt(timeline, 10)
  return weights.timeline.find(({ upToMonths }) => months <= upToMonths)?.points ?? 0
}

const dayMs = 86_400_000

function recencyOf(lead: ScoreInputs, now: Date): { points: number; fallsAt: string | null } {
  const contactedAt = Date.parse(lead.last_contacted ?? lead.created_at)
  const touchedAt = Math.min(Math.max(Date.parse(lead.created_at), contactedAt), now.getTime())
  const step = weights.recency.find(({ withinDays }) => now.getTime() < touchedAt + withinDays * dayMs)
  if (!step) return { points: 0, fallsAt: null }
  return { points: step.points, fallsAt: new Date(touchedAt + step.withinDays * dayMs).toISOString() }
}
