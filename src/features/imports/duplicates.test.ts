import { beforeAll, describe, expect, it } from 'vitest'
import { createLead, createProperty, createUnit, eventsOf } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { errorsOf, importFile, lines } from '../../../test/importing.ts'
import { newId } from '../../kernel/ids.ts'

const harness = useHarness()
const { scenario } = harness

let propertyId: string
beforeAll(async () => {
  propertyId = (await createProperty(harness, { external_id: 'MARINA' })).id
})

const unitsNamed = async (name: string) =>
  (await scenario({ get: '/v1/units?per_page=100', status: 200 })).data.filter(
    (unit: { name: string }) => unit.name === name,
  )

describe('rows about records that are there', () => {
  const file = (name: string) => lines('name,property,unit_number,price', `${name},MARINA,D-1,50`)

  it('are skipped, update or are made anew, as asked', async () => {
    const unit = await createUnit(harness, propertyId, { name: 'Was', unit_number: 'D-1' })
    expect(await importFile(harness, { post: '/v1/units/import', file: file('Skipped') })).toMatchObject({
      skipped: 1,
      created: 0,
    })
    expect(await unitsNamed('Skipped')).toHaveLength(0)
    harness.clock.advance(1_000)
    const updated = await importFile(harness, {
      post: '/v1/units/import?on_duplicate=update',
      file: file('Updated'),
    })
    expect(updated).toMatchObject({ updated: 1, created: 0 })
    await scenario({
      get: `/v1/units/${unit.id}`,
      status: 200,
      match: { name: 'Updated', price: { amount: 50 }, visibility: 'agents' },
    })
    expect((await eventsOf(harness, unit.id)).at(-1)).toMatchObject({
      event: 'unit.updated',
      data: { previous: { name: 'Was' } },
    })
    const same = { post: '/v1/units/import?on_duplicate=update', file: file('Updated') }
    expect(await importFile(harness, same)).toMatchObject({ updated: 0, skipped: 1 })
    const anew = { post: '/v1/units/import?on_duplicate=create', file: file('Updated') }
    expect(await importFile(harness, anew)).toMatchObject({ created: 1 })
    expect(await unitsNamed('Updated')).toHaveLength(2)
    // Now two units have that number.
    const ambiguous = await importFile(harness, { ...same, file: file('Other') })
    expect(ambiguous).toMatchObject({ failed: 1 })
    expect(await errorsOf(harness, ambiguous.id)).toMatchObject([
      { message: expect.stringContaining('several') },
    ])
  })

  it('are known by external id before anything else, and need only what changes', async () => {
    const unit = await createUnit(harness, propertyId, { external_id: 'X-1', name: 'Before', bedrooms: 2 })
    const done = await importFile(harness, {
      post: '/v1/units/import?on_duplicate=update',
      file: lines('external_id,name,bedrooms', 'X-1,After,', 'X-2,New,'),
    })
    expect(done).toMatchObject({ updated: 1, failed: 1 })
    await scenario({ get: `/v1/units/${unit.id}`, status: 200, match: { name: 'After', bedrooms: 2 } })
    expect((await errorsOf(harness, done.id)).map(({ column }) => column)).toEqual(['property_id', 'price'])
  })

  it('keep what an empty cell is about, quoted or not', async () => {
    const lead = await createLead(harness, { external_id: 'E-1', notes: 'Kept', phone: '1' })
    const file = lines('"external_id","name","notes","phone"', '"E-1","Renamed","",')
    const done = await importFile(harness, { post: '/v1/leads/import?on_duplicate=update', file })
    expect(done).toMatchObject({ updated: 1 })
    await scenario({
      get: `/v1/leads/${lead.id}`,
      status: 200,
      match: { name: 'Renamed', notes: 'Kept', phone: '1' },
    })
  })

  it('count within a file too', async () => {
    const twice = lines(
      'name,property,unit_number,price',
      'One,MARINA,E-1,1',
      'Two,MARINA,E-1,2',
      'Three,MARINA,E-1,3',
    )
    expect(await importFile(harness, { post: '/v1/units/import?dry_run=true', file: twice })).toMatchObject({
      created: 1,
      skipped: 2,
    })
    expect(
      await importFile(harness, { post: '/v1/units/import?on_duplicate=update', file: twice }),
    ).toMatchObject({
      created: 1,
      updated: 2,
    })
    expect(await unitsNamed('Three')).toMatchObject([{ price: { amount: 3 } }])
  })

  it('cannot take the external id of another', async () => {
    const file = lines('name,property,price,external_id', 'A,MARINA,1,X-9', 'B,MARINA,1,X-9')
    const done = await importFile(harness, { post: '/v1/units/import?on_duplicate=create', file })
    expect(done).toMatchObject({ created: 1, failed: 1 })
    expect(await errorsOf(harness, done.id)).toMatchObject([{ line: 3, column: 'external_id' }])
  })

  it('are not revealed to those who may not see them', async () => {
    await createUnit(harness, propertyId, { unit_number: 'P-1', visibility: 'private' })
    const as = await harness.createKey(harness.tenant.production, ['write:properties'])
    const file = lines('name,property,unit_number,price', 'Mine,MARINA,P-1,1')
    expect(await importFile(harness, { as, post: '/v1/units/import', file })).toMatchObject({ created: 1 })
  })

  it('are others when they say so, whatever they have in common', async () => {
    const [one, another] = [newId('unit', harness.clock.now()), newId('unit', harness.clock.now())]
    const ids = lines(
      'id,name,property,unit_number,price',
      `${one},Same number,MARINA,S-1,1`,
      `${another},Same number,MARINA,S-1,2`,
    )
    expect(await importFile(harness, { post: '/v1/units/import', file: ids })).toMatchObject({ created: 2 })
    expect(await importFile(harness, { post: '/v1/units/import', file: ids })).toMatchObject({ skipped: 2 })
    const named = lines('external_id,name,email', 'S-1,One,same@example.com', 'S-2,Two,same@example.com')
    const leads = { post: '/v1/leads/import?on_duplicate=update', file: named }
    expect(await importFile(harness, leads)).toMatchObject({ created: 2 })
    expect(await importFile(harness, leads)).toMatchObject({ skipped: 2 })
  })

  it('are recognised by what they have in common with one that was there before', async () => {
    await createUnit(harness, propertyId, { unit_number: 'C-1', external_id: 'C-A' })
    await createUnit(harness, propertyId, { unit_number: 'C-2' })
    const file = lines(
      'id,external_id,name,property,unit_number,price',
      `${newId('unit', harness.clock.now())},,By number,MARINA,C-1,1`,
      ',C-B,Another,MARINA,C-1,1',
      ',C-C,By number,MARINA,C-2,1',
    )
    const done = await importFile(harness, { post: '/v1/units/import', file })
    expect(done).toMatchObject({ created: 1, skipped: 2 })
    expect(await unitsNamed('Another')).toHaveLength(1)
  })

  it('are refused alone when they would take the id of another', async () => {
    const { id } = await createUnit(harness, propertyId, { visibility: 'private' })
    const as = await harness.createKey(harness.tenant.production, ['write:properties'])
    const file = lines('id,name,property,price', `${id},Mine,MARINA,1`, ',Beside it,MARINA,1')
    const done = await importFile(harness, { as, post: '/v1/units/import', file })
    expect(done).toMatchObject({ status: 'completed', created: 1, failed: 1 })
    expect(await errorsOf(harness, done.id)).toEqual([
      { row: 1, line: 2, column: 'id', message: 'is already taken by another record.' },
    ])
  })
})
