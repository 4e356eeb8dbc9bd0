import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty, eventsOf } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { errorsOf, importFile, lines, sendFile, workOff } from '../../../test/importing.ts'

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

describe('an import', () => {
  it('is taken in, worked off and told of, record by record', async () => {
    const file = lines(
      'name,property_id,price.amount,features,status',
      `First,${propertyId},1000.50,pool|sea view,sold`,
      `Second,MARINA,2000,,`,
    )
    const { data, headers } = await sendFile(harness, { post: '/v1/units/import', file })
    expect(headers.location).toBe(`/v1/imports/${data.id}`)
    expect(data).toMatchObject({
      resource: 'units',
      format: 'csv',
      status: 'queued',
      dry_run: false,
      on_duplicate: 'skip',
      total: 2,
      processed: 0,
      finished_at: null,
    })
    await workOff(harness)
    await scenario({
      get: `/v1/imports/${data.id}`,
      status: 200,
      match: { status: 'completed', total: 2, processed: 2, created: 2, failed: 0, skipped: 0, updated: 0 },
    })
    const [first] = await unitsNamed('First')
    expect(first).toMatchObject({
      property_id: propertyId,
      price: { amount: 1000.5, currency: 'USD' },
      features: ['pool', 'sea view'],
      status: 'sold',
    })
    expect((await unitsNamed('Second'))[0]).toMatchObject({ property_id: propertyId, status: 'available' })
    expect(await eventsOf(harness, first.id)).toMatchObject([{ event: 'unit.created', data: first }])
    const left =
      await harness.sql`select (select count(*) from import_chunks) + (select count(*) from import_work) as n`
    expect(left[0]!.n).toBe(0)
  })

  it('finds columns by what people call them, in any case, with any separator', async () => {
    const file = lines(
      '\ufeffProject;Unit Name;Asking Price;Unit No.;BEDS;Área',
      'MARINA;"Tower; A";1500;T-9;2;88.5',
    )
    await importFile(harness, { post: '/v1/units/import', file })
    expect((await unitsNamed('Tower; A'))[0]).toMatchObject({
      unit_number: 'T-9',
      bedrooms: 2,
      size: { interior: 88.5 },
      price: { amount: 1500 },
    })
    const tabs = lines('Project Name\tType\tTown\tCountry', 'Tabbed\tMixed Use\tPorto\tPT')
    const done = await importFile(harness, { post: '/v1/properties/import', file: tabs })
    expect(done).toMatchObject({ created: 1, ignored_columns: [] })
    const { data } = await scenario({ get: '/v1/properties?location=porto', status: 200 })
    expect(data[0]).toMatchObject({ name: 'Tabbed', type: 'mixed_use', location: { city: 'Porto' } })
  })

  it('follows an explicit mapping', async () => {
    const mapping = encodeURIComponent(
      JSON.stringify({ Was: 'name', Price: 'price.amount', Building: null, P: 'property_id' }),
    )
    const file = lines('Was,Price,Building,P', 'Mapped,7,ignored,MARINA')
    const done = await importFile(harness, { post: `/v1/units/import?mapping=${mapping}`, file })
    expect(done).toMatchObject({
      created: 1,
      columns: ['Was', 'Price', 'Building', 'P'],
      ignored_columns: ['Building'],
    })
    for (const [wrong, reason] of [
      [{ Nope: 'name' }, 'Nope'],
      [{ Was: 'no_field' }, 'no_field'],
      [{ Was: 'units_count' }, 'units_count'],
    ] as const) {
      const query = encodeURIComponent(JSON.stringify(wrong))
      await sendFile(harness, {
        post: `/v1/units/import?mapping=${query}`,
        file,
        status: 422,
        error: { message: expect.stringContaining(reason) },
      })
    }
    await sendFile(harness, { post: '/v1/units/import?mapping=[1]', file, status: 422, wrong: ['mapping'] })
  })

  it('names unknown columns, and brings in the rest', async () => {
    const file = lines('name,colour,property_id,price,units_count', 'Unknown,red,MARINA,5,9')
    const done = await importFile(harness, { post: '/v1/units/import', file })
    expect(done).toMatchObject({ created: 1, ignored_columns: ['colour', 'units_count'] })
  })

  it('keeps an id of another system as external id', async () => {
    const file = lines('ID,name,property,price', '4711,Foreign,MARINA,5')
    await importFile(harness, { post: '/v1/units/import', file })
    expect((await unitsNamed('Foreign'))[0]).toMatchObject({ external_id: '4711' })
  })

  it('tells external ids apart by their case', async () => {
    for (const external_id of ['abc', 'ABC', 'Abc'])
      await createProperty(harness, { name: `Called ${external_id}`, external_id })
    const file = lines('name,property,price', 'In abc,abc,5', 'In ABC,ABC,5', 'In none,aBC,5')
    const done = await importFile(harness, { post: '/v1/units/import', file })
    expect(done).toMatchObject({ created: 2, failed: 1 })
    for (const external_id of ['abc', 'ABC']) {
      const [unit] = await unitsNamed(`In ${external_id}`)
      await scenario({ get: `/v1/properties/${unit.property_id}`, status: 200, match: { external_id } })
    }
  })

  it('keeps the day on which a record was made', async () => {
    const file = lines(
      'name,property,price,Created on',
      'Old,MARINA,5,2020-05-17',
      'Older,MARINA,5,2019-01-01 10:30',
      'Future,MARINA,5,2030-01-01',
    )
    const done = await importFile(harness, { post: '/v1/units/import', file })
    expect(done).toMatchObject({ created: 2, failed: 1 })
    expect((await unitsNamed('Old'))[0].created_at).toBe('2020-05-17T00:00:00.000Z')
    expect((await unitsNamed('Older'))[0].created_at).toBe('2019-01-01T10:30:00.000Z')
    expect(await errorsOf(harness, done.id)).toEqual([
      { row: 3, line: 4, column: 'Created on', message: 'must not be in the future.' },
    ])
  })
})

describe('rows that are wrong', () => {
  it('are reported with line, column and reason; the others go in', async () => {
    const file = lines(
      'name,property,price,status,assigned_agent,gallery',
      'Good 1,MARINA,5,,,',
      ',MARINA,-1,gone,,',
      'Two lines,NOWHERE,7,,nobody@example.com,',
      '',
      'Ragged,MARINA',
      '"Ragged too",MARINA,1,,,,,extra',
      'Number,MARINA,many,,,not a url',
      'Good 2,MARINA,6,Off Market,,',
    )
    const done = await importFile(harness, { post: '/v1/units/import', file })
    expect(done).toMatchObject({ status: 'completed', processed: 7, created: 2, failed: 5 })
    expect(await errorsOf(harness, done.id)).toEqual([
      { row: 2, line: 3, column: 'name', message: 'is required.' },
      { row: 2, line: 3, column: 'price', message: 'must be at least 0.' },
      {
        row: 2,
        line: 3,
        column: 'status',
        message: 'must be one of available, reserved, sold, off_market, rented.',
      },
      { row: 3, line: 4, column: 'property', message: expect.stringContaining('NOWHERE') },
      { row: 3, line: 4, column: 'assigned_agent', message: expect.stringContaining('nobody@example.com') },
      { row: 4, line: 6, column: null, message: 'has 2 cells where the header has 6.' },
      { row: 5, line: 7, column: null, message: 'has 8 cells where the header has 6.' },
      { row: 6, line: 8, column: 'price', message: 'must be a number.' },
      { row: 6, line: 8, column: 'gallery', message: 'must be an absolute http or https URL.' },
    ])
    expect((await unitsNamed('Good 2'))[0].status).toBe('off_market')
  })

  it('come back as a file to mend and send again', async () => {
    const file = lines('name;property;price;notes', 'Mend me;MARINA;"x ""1""";"a;b', 'c"', 'Fine;MARINA;1;')
    const done = await importFile(harness, { post: '/v1/units/import', file })
    expect(done).toMatchObject({ created: 1, failed: 1, ignored_columns: ['notes'] })
    for (const request of [
      { get: `/v1/imports/${done.id}/errors?format=csv` },
      { get: `/v1/imports/${done.id}/errors`, headers: { accept: 'text/csv' } },
    ]) {
      const { text, headers } = await scenario({ ...request, status: 200 })
      expect(headers['content-disposition']).toBe('attachment; filename="units-errors.csv"')
      expect(text).toBe(
        'name,property,price,notes,import_rest,import_line,import_error\r\n' +
          'Mend me,MARINA,"x ""1""","a;b\nc",,2,price must be a number.\r\n',
      )
      const mended = text.replace('"x ""1"""', '12.5')
      const again = await importFile(harness, { post: '/v1/units/import?on_duplicate=create', file: mended })
      expect(again).toMatchObject({ created: 1, failed: 0, ignored_columns: ['notes'] })
    }
  })

  it('come back with all their cells, none of which a spreadsheet computes', async () => {
    const file = lines(
      'name,property,price,=sum',
      '=cmd,NOWHERE,-5,+1',
      "'=shown,NOWHERE,1,",
      "''=quoted,NOWHERE,1,",
      'Ragged,MARINA,1,,=more,a|b',
    )
    const done = await importFile(harness, { post: '/v1/units/import', file })
    const { text } = await scenario({ get: `/v1/imports/${done.id}/errors?format=csv`, status: 200 })
    const cells = text.split('\r\n').map((line) => line.split(/,(?=\d+,"?\w+ )/)[0])
    expect(cells.slice(0, 5)).toEqual([
      "name,property,price,'=sum,import_rest,import_line,import_error",
      "'=cmd,NOWHERE,'-5,'+1,",
      "'=shown,NOWHERE,1,,",
      "''=quoted,NOWHERE,1,,",
      `Ragged,MARINA,1,,"'=more|a\\|b"`,
    ])
    const mended = text.replaceAll('NOWHERE', 'MARINA').replace("'-5", '5')
    const again = await importFile(harness, { post: '/v1/units/import', file: mended })
    expect(again).toMatchObject({ created: 4, failed: 0, ignored_columns: ['=sum'] })
    for (const name of ['=cmd', '=shown', "'=quoted"]) expect(await unitsNamed(name)).toHaveLength(1)
  })

  it('are the lines with broken quotes or wrong bytes, and no others', async () => {
    const bytes = Buffer.concat([
      Buffer.from('name,property,price\n"Open,MARINA,1\nNext,MARINA,2\n"Closed"x,MARINA,3\nCaf'),
      Buffer.from([0xe9]),
      Buffer.from(',MARINA,4\nLast,MARINA,5'),
    ])
    const done = await importFile(harness, { post: '/v1/units/import', file: bytes })
    expect(done).toMatchObject({ created: 2, failed: 3 })
    expect(await errorsOf(harness, done.id)).toMatchObject([
      { line: 2, column: null, message: expect.stringContaining('quote') },
      { line: 4, column: null, message: 'has text after a closing quote.' },
      { line: 5, column: 'name', message: expect.stringContaining('UTF-8') },
    ])
  })
})

describe('a NUL character', () => {
  it.each([
    ['near the beginning', 0],
    ['far from the beginning', 3_000],
  ])('%s costs its row alone', async (_where, before) => {
    const good = Array.from({ length: before }, (_, at) => `Before ${at},NOWHERE,1`)
    const file = lines('name,property,price', ...good, 'N\0L,MARINA,1', 'After NUL,MARINA,1')
    const done = await importFile(harness, { post: '/v1/units/import?dry_run=true', file })
    expect(done).toMatchObject({ status: 'completed', created: 1, failed: before + 1 })
    const { text } = await scenario({ get: `/v1/imports/${done.id}/errors?format=csv`, status: 200 })
    expect(text).toContain('N\ufffdL,MARINA,1')
    expect(text).toContain('without NUL characters')
  })
})

describe('a file that is no file', () => {
  it.each([
    ['is empty', '', 'empty'],
    ['has blank lines alone', '\n \n', 'empty'],
    ['has a byte order mark alone', '\ufeff', 'empty'],
    ['has no header', lines(`A-1,prop_1,100`, 'A-2,prop_1,200'), 'has no column for'],
    ['lacks required columns', lines('name,status', 'A,sold'), 'property_id, price.amount'],
    ['has two columns for one field', lines('name,unit name,property,price', 'a,b,c,1'), 'several columns'],
    ['is UTF-16', Buffer.from('\ufeffname,property,price\n', 'utf16le'), 'UTF-8'],
    ['is UTF-16 without a mark', Buffer.from('name,property,price\n', 'utf16le'), 'UTF-8'],
  ])('that %s is 422', async (_what, file, reason) => {
    await sendFile(harness, {
      post: '/v1/units/import',
      file,
      status: 422,
      wrong: ['file'],
      error: { message: expect.stringContaining(reason) },
    })
  })

  it('is completed at once when it has a header alone', async () => {
    const done = await importFile(harness, { post: '/v1/units/import', file: 'name,property,price\n' })
    expect(done).toMatchObject({ status: 'completed', total: 0, processed: 0 })
  })

  it.each([
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'text/csv; charset=iso-8859-1',
  ])('is 415 as %s', async (type) => {
    await sendFile(harness, { post: '/v1/units/import', file: '{}', type, status: 415 })
  })

  it('is 413 when it is larger than allowed, and leaves nothing', async () => {
    const file = Buffer.alloc(11_000_000, 'name,property,price\n')
    const before = await harness.sql`select id from import_files`
    await sendFile(harness, { post: '/v1/units/import', file, status: 413 })
    expect(await harness.sql`select id from import_files`).toEqual(before)
  })

  it('is 413 too when its size is not told in advance', async () => {
    const answer = await sendInPieces(Array.from({ length: 12 }, () => Buffer.alloc(1_000_000, 'a,b\n')))
    expect(answer.status).toBe(413)
    expect(answer.headers.get('connection')).toBe('close')
  })

  it.each([
    ['refused', {}],
    ['refused for its key', { 'idempotency-key': 'refused' }],
  ])('leaves nothing when it is %s', async (_why, headers) => {
    const before = await harness.sql`select id from import_files`
    await sendFile(harness, { post: '/v1/units/import', file: 'nonsense', headers, status: 422 })
    expect(await harness.sql`select id from import_files`).toEqual(before)
  })
})

async function sendInPieces(pieces: Buffer[]): Promise<Response> {
  const address = await harness.server().listen({ host: '127.0.0.1', port: 0 })
  return fetch(`${address}/v1/units/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${harness.tenant.adminKey}`, 'content-type': 'text/csv' },
    body: ReadableStream.from(pieces),
    duplex: 'half',
  } as RequestInit)
}
