import { beforeAll, describe, expect, it } from 'vitest'
import { createLead, createProperty, createUnit } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { errorsOf, importFile, lines } from '../../../test/importing.ts'
import { newId } from '../../kernel/ids.ts'

const harness = useHarness()
const { scenario } = harness

beforeAll(async () => void (await createProperty(harness, { external_id: 'MARINA' })))

const countOf = async (table: string) =>
  (await harness.sql`select count(*)::int as n from ${harness.sql(table)}`)[0]!.n

describe('a dry run', () => {
  it('reports the same and writes nothing', async () => {
    const file = lines('name,property,price', 'Dry,MARINA,1', 'Dry,NOWHERE,1', ',MARINA,1')
    const before = await countOf('events')
    const done = await importFile(harness, { post: '/v1/units/import?dry_run=true', file })
    expect(done).toMatchObject({ dry_run: true, status: 'completed', created: 1, failed: 2 })
    expect(await countOf('units')).toBe(0)
    expect(await countOf('events')).toBe(before)
    expect(await errorsOf(harness, done.id)).toHaveLength(2)
  })

  it('invites nobody', async () => {
    const file = lines('name,email', 'Dry,dry@example.com')
    const done = await importFile(harness, { post: '/v1/agents/import?dry_run=true', file })
    expect(done).toMatchObject({ created: 1 })
    expect(await countOf('mail')).toBe(0)
    expect((await scenario({ get: '/v1/agents?search=dry@', status: 200 })).data).toEqual([])
  })
})

describe('a dry run foresees what the run says', () => {
  // More rows than are worked on at once, so that those before and after do not meet in the tables.
  const between = (row: (at: number) => string) => Array.from({ length: 200 }, (_, at) => row(at))

  async function expectSame(post: string, file: string, expected: object): Promise<void> {
    const dry = await importFile(harness, { post: `${post}&dry_run=true`, file })
    expect(dry).toMatchObject({ created: 0, updated: 0, skipped: 0, failed: 0, ...expected })
    const real = await importFile(harness, { post, file })
    expect(real).toMatchObject({ created: 0, updated: 0, skipped: 0, failed: 0, ...expected })
    expect(await errorsOf(harness, real.id)).toEqual(await errorsOf(harness, dry.id))
  }

  it('of an external id that two rows have', async () => {
    const file = lines('external_id,name,property,price', 'T-1,A,MARINA,1', 'T-1,B,MARINA,1')
    await expectSame('/v1/units/import?on_duplicate=create', file, { created: 1, failed: 1 })
    const apart = lines(
      'external_id,name,property,price',
      'T-2,A,MARINA,1',
      ...between((at) => `,Between ${at},MARINA,1`),
      'T-2,B,MARINA,1',
    )
    await expectSame('/v1/units/import?on_duplicate=create', apart, { created: 201, failed: 1 })
  })

  it('of an address that two agents have', async () => {
    const file = lines(
      'name,email,status',
      'A,twice@example.com,inactive',
      ...between((at) => `B,b${at}@example.com,inactive`),
      'C,TWICE@example.com,inactive',
    )
    await expectSame('/v1/agents/import?on_duplicate=create', file, { created: 201, failed: 1 })
  })

  it('of rows that are alike, near and far', async () => {
    const id = () => newId('unit', harness.clock.now())
    const file = lines(
      'id,external_id,name,property,unit_number,price',
      `${id()},,A,MARINA,L-1,1`,
      `${id()},,B,MARINA,L-1,1`,
      ',L-A,C,MARINA,L-2,1',
      ...between((at) => `,,Between ${at},MARINA,,1`),
      `${id()},,D,MARINA,L-1,1`,
      ',L-B,E,MARINA,L-2,1',
      ',,F,MARINA,L-2,1',
    )
    await expectSame('/v1/units/import?on_duplicate=skip', file, { created: 205, skipped: 1 })
  })

  it('of updates that change nothing, or may not be made', async () => {
    const { id } = await createUnit(
      harness,
      (await scenario({ get: '/v1/properties', status: 200 })).data[0].id,
      { external_id: 'Q-1', name: 'Same' },
    )
    const file = lines('external_id,name', 'Q-1,Same', 'Q-1,Other', 'Q-1,Other')
    await expectSame('/v1/units/import?on_duplicate=update', file, { updated: 1, skipped: 2 })
    await scenario({ get: `/v1/units/${id}`, status: 200, match: { name: 'Other' } })
    await createLead(harness, { external_id: 'Q-2', budget: { min: 100 } })
    const budget = lines('external_id,budget.max', 'Q-2,50')
    await expectSame('/v1/leads/import?on_duplicate=update', budget, { failed: 1 })
    const demoted = lines('email,role', `${harness.tenant.ownerEmail},agent`)
    await expectSame('/v1/agents/import?on_duplicate=update', demoted, { failed: 1 })
  })

  it('of an update of what an earlier row has made', async () => {
    const file = lines(
      'external_id,name,property,price,bedrooms',
      'V-1,A,MARINA,1,',
      ...between((at) => `,Between ${at},MARINA,1,`),
      'V-1,B,MARINA,1,',
      'V-1,B,MARINA,1,many',
    )
    await expectSame('/v1/units/import?on_duplicate=update', file, { created: 201, updated: 1, failed: 1 })
  })
})
