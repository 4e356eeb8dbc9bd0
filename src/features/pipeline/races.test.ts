import { describe, expect, it } from 'vitest'
import { createLead, createStock, createUnit, insertAgent } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

const send = async (method: 'POST' | 'DELETE', url: string, payload?: object) => {
  const authorization = `Bearer ${harness.tenant.adminKey}`
  const answer = await harness
    .server()
    .inject({ method, url, headers: { authorization }, ...(payload && { payload }) })
  return answer.statusCode
}
const entriesOf = async (leadId: string) =>
  (await scenario({ get: `/v1/leads/${leadId}/activity?per_page=100`, status: 200 })).data

const rounds = Array.from({ length: 8 }, (_, round) => round)

describe('at the same moment', () => {
  it('notes of calls and a change of stage are all kept', async () => {
    for (const round of rounds) {
      const { id } = await createLead(harness)
      const note = (content: string) => send('POST', `/v1/leads/${id}/notes`, { content, type: 'call' })
      const answers = await Promise.all([
        note('one'),
        note('two'),
        send('POST', `/v1/leads/${id}/stage`, { stage: 'contacted' }),
        note('three'),
      ])
      expect(answers, `round ${round}`).toEqual([201, 201, 200, 201])
      const told = (await entriesOf(id)).filter(({ type }: { type: string }) => type === 'note')
      expect(told.map(({ description }: { description: string }) => description).sort()).toEqual([
        'one',
        'three',
        'two',
      ])
      const [kept] = await harness.sql`select count(*)::int as n from lead_notes where lead_id = ${id}`
      expect(kept!.n).toBe(3)
    }
  })

  it('a lead is won and its agent deactivated', async () => {
    const staying = await insertAgent(harness)
    for (const round of rounds) {
      const leaving = await insertAgent(harness)
      const { unit } = await createStock(harness)
      const lead = await createLead(harness, { assigned_agent: leaving })
      const answers = await Promise.all([
        send('POST', `/v1/leads/${lead.id}/won`, { property_id: unit.id, deal_value: 1 }),
        send('POST', `/v1/agents/${leaving}/deactivate`, { reassign_leads_to: staying }),
      ])
      expect(answers, `round ${round}`).toEqual([200, 200])
      await scenario({
        get: `/v1/leads/${lead.id}`,
        status: 200,
        match: { stage: 'won', assigned_agent: staying },
      })
    }
  })

  it('units are won and their property deleted: one of the two', async () => {
    for (const round of rounds) {
      const { property, unit } = await createStock(harness)
      const units = [unit]
      while (units.length < 6) units.push(await createUnit(harness, property.id))
      const leads = await Promise.all(units.map(() => createLead(harness)))
      const wins = leads.map(({ id }, at) =>
        send('POST', `/v1/leads/${id}/won`, { property_id: units[at]!.id, deal_value: 1 }),
      )
      const [deleted, ...won] = await Promise.all([send('DELETE', `/v1/properties/${property.id}`), ...wins])
      expect(won, `round ${round}`).toEqual(units.map(() => (deleted === 409 ? 200 : 422)))
      expect([200, 409]).toContain(deleted)
    }
  })
})
