import { describe, expect, it } from 'vitest'
import { createLead, createStock } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { leadSources, leadStages } from './schema.ts'
import { type ScoreInputs, scoreOf, weights } from './score.ts'
import { refreshScores } from './score-refresh.ts'

const harness = useHarness()
const { scenario, clock } = harness
const day = 86_400_000

const bare: ScoreInputs = {
  source: 'api',
  phone: null,
  interested_properties: [],
  tags: [],
  notes: null,
  budget: null,
  timeline: null,
  stage: 'lost',
  created_at: '2026-01-01T00:00:00.000Z',
  last_contacted: null,
}
const muchLater = new Date('2027-01-01T00:00:00Z')
const score = (lead: Partial<ScoreInputs>) => scoreOf({ ...bare, ...lead }, muchLater).score

describe('the score', () => {
  it('is the sum of its parts, at most 100', () => {
    expect(score({})).toBe(weights.source.api)
    const now = new Date('2026-01-02T00:00:00Z')
    const best: ScoreInputs = {
      ...bare,
      source: 'referral',
      phone: '1',
      interested_properties: ['prop_1'],
      tags: ['vip'],
      notes: 'n',
      budget: { min: 1, max: 2, currency: 'USD' },
      timeline: 'immediate',
      stage: 'negotiation',
    }
    expect(scoreOf(best, now)).toEqual({ score: 100, fallsAt: '2026-01-08T00:00:00.000Z' })
  })

  it.each(leadSources)('weighs the source %s', (source) => {
    expect(score({ source }) - score({})).toBe(weights.source[source] - weights.source.api)
  })

  it.each(leadStages)('weighs the stage %s', (stage) => {
    expect(score({ stage }) - score({})).toBe(weights.stage[stage])
  })

  it.each([
    ['immediate', 20],
    ['1_months', 16],
    ['3_months', 16],
    ['4_months', 11],
    ['12_months', 6],
    ['13_months', 2],
  ])('weighs the timeline %s with %d', (timeline, points) => {
    expect(score({ timeline }) - score({})).toBe(points)
  })

  it('weighs a budget by how much of it is known', () => {
    const currency = 'USD'
    expect(score({ budget: { min: null, max: 5, currency } }) - score({})).toBe(10)
    expect(score({ budget: { min: 1, max: 5, currency } }) - score({})).toBe(15)
    expect(score({ budget: { min: null, max: null, currency } })).toBe(score({}))
  })

  it.each([
    [0, 10, 7],
    [7 * day - 1, 10, 7],
    [7 * day, 6, 30],
    [30 * day, 3, 90],
    [90 * day, 0, null],
  ])('%d ms after the last contact, recency is worth %d', (age, points, fallsAtDay) => {
    const at = Date.parse('2026-02-01T00:00:00Z')
    const lead = { ...bare, last_contacted: new Date(at).toISOString() }
    const fallsAt = fallsAtDay && new Date(at + fallsAtDay * day).toISOString()
    expect(scoreOf(lead, new Date(at + age))).toEqual({ score: weights.source.api + points, fallsAt })
  })

  it('takes a contact in the future for one of now', () => {
    const now = new Date('2026-02-01T00:00:00Z')
    const lead = { ...bare, last_contacted: '9999-12-31T00:00:00.000Z' }
    expect(scoreOf(lead, now).fallsAt).toBe('2026-02-08T00:00:00.000Z')
  })
})

describe('the score of a lead', () => {
  it('follows what it is made of', async () => {
    const lead = await createLead(harness)
    const put = (body: object, score: number) =>
      scenario({ put: `/v1/leads/${lead.id}`, body, status: 200, match: { score } })
    const { property } = await createStock(harness)
    await put({ phone: '1' }, lead.score + 5)
    await put({ interested_properties: [property.id] }, lead.score + 10)
    await put({ source: 'referral' }, lead.score + 20)
    await put({ score: 100, source: 'api', phone: null, interested_properties: [] }, lead.score)
    const stage = { post: `/v1/leads/${lead.id}/stage`, body: { stage: 'negotiation' }, status: 200 }
    await scenario({ ...stage, match: { score: lead.score + 20 } })
  })

  it('falls with time alone, touching only rows that are due', async () => {
    const old = await createLead(harness)
    const expectScore = async (id: string, score: number) => {
      const { data } = await scenario({ get: `/v1/leads/${id}`, status: 200 })
      expect(data).toMatchObject({ score, updated_at: old.updated_at })
      expect((await scenario({ get: `/v1/leads?min_score=${score}`, status: 200 })).data).toContainEqual(data)
    }
    await refreshScores(harness)
    await expectScore(old.id, old.score)
    clock.advance(7 * day)
    const young = await createLead(harness)
    expect(await refreshScores(harness)).toBeGreaterThan(0)
    await expectScore(old.id, old.score - 4)
    expect(await refreshScores(harness)).toBe(0)
    await scenario({ get: `/v1/leads/${young.id}`, status: 200, match: { score: young.score } })
    clock.advance(23 * day)
    await refreshScores(harness)
    await expectScore(old.id, old.score - 7)
    clock.advance(60 * day)
    await refreshScores(harness)
    await expectScore(old.id, old.score - 10)
    clock.advance(900 * day)
    await refreshScores(harness)
    expect(await refreshScores(harness)).toBe(0)
    await scenario({
      post: `/v1/leads/${old.id}/notes`,
      body: { content: 'Back again', type: 'call' },
      status: 201,
    })
    await scenario({ get: `/v1/leads/${old.id}`, status: 200, match: { score: old.score } })
  })

  it('can be refreshed by several processes at once', async () => {
    for (let n = 0; n < 20; n++) await createLead(harness)
    clock.advance(8 * day)
    const counts = await Promise.all([1, 2, 3].map(() => refreshScores(harness)))
    expect(counts.reduce((all, one) => all + one)).toBeGreaterThanOrEqual(20)
  })
})
