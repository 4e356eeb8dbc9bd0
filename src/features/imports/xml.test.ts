import { beforeAll, describe, expect, it } from 'vitest'
import { createProperty } from '../../../test/fixtures.ts'
import { useHarness } from '../../../test/harness.ts'
import { errorsOf, importFile, sendFile } from '../../../test/importing.ts'

const harness = useHarness()
const { scenario } = harness
beforeAll(async () => void (await createProperty(harness, { external_id: 'HOME' })))

const to = '/v1/units/import'
const unit = (name: string, more = '') =>
  `<unit><name>${name}</name><property_id>HOME</property_id><price><amount>5</amount></price>${more}</unit>`
const importXml = (file: string) => importFile(harness, { post: to, file, type: 'application/xml' })
const found = async (name: string) =>
  (await scenario({ get: '/v1/units?per_page=100', status: 200 })).data.find(
    (one: { name: string }) => one.name === name,
  )

describe('an import as XML', () => {
  it('is deprecated, and works', async () => {
    const file = `<?xml version="1.0"?>
<!-- stock -->
<units>
  ${unit('A &amp; B &#233;', '<features><feature>pool</feature><feature>gym</feature></features>')}
  ${unit('C', '<features>one|two</features><gallery>https://a.example/1.jpg</gallery><size><interior>7</interior></size>')}
  ${unit('<![CDATA[</unit> <raw>]]>')}
</units>`
    const { headers, data } = await sendFile(harness, { post: to, file, type: 'text/xml' })
    expect(headers.deprecation).toMatch(/^@\d+$/)
    expect(headers.sunset).toMatch(/GMT$/)
    expect(data).toMatchObject({ format: 'xml', total: null })
    const done = await importXml(file)
    expect(done).toMatchObject({ status: 'completed', total: 3, created: 3, failed: 0 })
    expect(await found('A & B é')).toMatchObject({ features: ['pool', 'gym'], price: { amount: 5 } })
    expect(await found('C')).toMatchObject({ features: ['one', 'two'], size: { interior: 7 } })
    expect(await found('</unit> <raw>')).toBeDefined()
  })

  it('reports wrong records with their line', async () => {
    const file = `<units>\n${unit('Fine')}\n<unit><name>No price</name></unit>\n${unit('Odd', '<colour>red</colour>')}\n<unit/>\n</units>`
    const done = await importXml(file)
    expect(done).toMatchObject({ created: 1, failed: 3 })
    expect(await errorsOf(harness, done.id)).toMatchObject([
      { line: 3, column: 'property_id', message: 'is required.' },
      { line: 3, column: 'price.amount', message: 'is required.' },
      { line: 4, column: null, message: expect.stringContaining('colour') },
      { line: 5, column: 'property_id' },
      { line: 5, column: 'name' },
      { line: 5, column: 'price.amount' },
    ])
  })

  it('takes texts as they are', async () => {
    const file = `<units>${unit("'=M &#60;&#x26;&#233;&quot;")}${unit("'=N")}</units>`
    expect(await importXml(file)).toMatchObject({ created: 2 })
    expect(await found(`'=M <&é"`)).toBeDefined()
    expect(await found("'=N")).toBeDefined()
  })

  it('allows for brackets in the values of attributes', async () => {
    const record = unit('Bracket').replace('<name>', `<name lang="a>b" x='"/>'>`)
    const file = `<units note="a > b" more='/>'>${record}</units>`
    expect(await importXml(file)).toMatchObject({ status: 'completed', created: 1 })
    expect(await found('Bracket')).toBeDefined()
  })

  it('knows elements by what people call them and by a mapping', async () => {
    const mapped = (mapping: object) => `${to}?mapping=${encodeURIComponent(JSON.stringify(mapping))}`
    const file = `<units><unit>
      <name>Left out</name><Unit-Name>Loose</Unit-Name><Haus>HOME</Haus><Asking_Price>7</Asking_Price>
      <Size><Interior>9</Interior></Size><Remarks><by>me</by></Remarks><created_at>2020-05-17</created_at>
    </unit><unit><name>Wrong</name><Haus>=NOWHERE</Haus></unit></units>`
    const post = mapped({ Haus: 'property_id', Remarks: null, name: null })
    const done = await importFile(harness, { post, file, type: 'text/xml' })
    expect(done).toMatchObject({ created: 1, failed: 1, ignored_columns: ['Remarks', 'name'] })
    expect(await found('Loose')).toMatchObject({ price: { amount: 7 }, size: { interior: 9 } })
    const { text } = await scenario({ get: `/v1/imports/${done.id}/errors?format=csv`, status: 200 })
    expect(text).not.toContain('Haus')
    expect(text).toContain("'=NOWHERE,")
    const wrong = { file, type: 'text/xml', status: 422, wrong: ['mapping'] }
    await sendFile(harness, { post: mapped({ Haus: 'units_count' }), ...wrong })
  })

  it('passes over what only the service sets, as files of CSV do', async () => {
    const file = '<leads><lead><name>A</name><E-Mail>a@example.com</E-Mail><score>9</score></lead></leads>'
    const done = await importFile(harness, { post: '/v1/leads/import', file, type: 'text/xml' })
    expect(done).toMatchObject({ created: 1, failed: 0 })
  })

  it.each([
    ['several elements for one field', unit('A', '<name>B</name>'), 'several elements for name'],
    ['two names for one field', unit('A', '<Unit-Name>B</Unit-Name>'), 'several elements for name'],
    ['elements in items', unit('A', '<features><feature><x>1</x></feature></features>'), 'inside the items'],
    ['an unknown part of a field', unit('A', '<size><colour>red</colour></size>'), 'size.colour'],
    ['another name', '<flat><name>A</name></flat>', 'must be an element unit'],
    ['an entity of HTML', unit('&copy;'), '&copy; is not accepted'],
    ['an entity of its own', unit('&foo;'), '&foo; is not accepted'],
    ['a character that is none', unit('&#x110000;'), 'is not accepted'],
    ['a NUL', unit('&#0;'), 'NUL'],
    ['half a character', unit('&#xd800;'), 'valid text'],
  ])('refuses a record with %s', async (_what, record, reason) => {
    const done = await importXml(`<units>${record}${unit('Beside')}</units>`)
    expect(done).toMatchObject({ status: 'completed', created: 1, failed: 1 })
    const [error] = await errorsOf(harness, done.id)
    expect(error.message).toContain(reason)
  })

  it('is refused when it is empty', async () => {
    await sendFile(harness, { post: to, file: '', type: 'text/xml', status: 422, wrong: ['file'] })
  })

  it.each([
    ['another root', `<leads>${unit('Evil')}</leads>`, 'must be units'],
    ['a document type', `<!DOCTYPE units [<!ENTITY a "b">]><units>${unit('Evil')}</units>`, 'DOCTYPE'],
    [
      'an outside entity',
      `<!DOCTYPE units SYSTEM "file:///etc/passwd"><units>${unit('Evil')}</units>`,
      'DOCTYPE',
    ],
    ['too much depth', `<units><unit>${'<a>'.repeat(50)}</unit></units>`, 'deep'],
    ['no end', `<units>${unit('Before the end')}`, 'ends before'],
    ['no elements', 'just text', 'ends before'],
    ['something after its end', `<units>${unit('Before more')}</units><units/>`, 'more after'],
  ])('ends early on %s', async (_what, file, reason) => {
    const done = await importXml(file)
    expect(done).toMatchObject({ status: 'failed', failure: expect.stringContaining(reason) })
    expect(await found('Evil')).toBeUndefined()
  })

  it('has brought in what stood before the fault', async () => {
    expect(await found('Before the end')).toBeDefined()
  })
})
