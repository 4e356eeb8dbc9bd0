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

  it.each([
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
