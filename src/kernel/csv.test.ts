import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cellWriter, csvLine, defused, joinItems, splitItems, undefused } from './csv.ts'
import { listOf, longText, text } from './fields.ts'

/** Texts that trip over what CSV, lists and spreadsheets give a meaning to. */
const awkward = fc.array(
  fc.constantFrom('"', ',', ';', '\n', '\r', '|', '\\', "'", '=', '-', '@', '[', ']', 'a', ' ', 'é', '😀'),
)
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  awkward.map((parts) => parts.join('')),
)

describe('a cell', () => {
  it('reads back as it was written, by another parser than ours', () => {
    const write = cellWriter(longText({}))
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 2, maxLength: 5 }), (texts) => {
        const [cells] = parse(csvLine(texts.map(write)), { record_delimiter: '\r\n' })
        expect(cells!.map(undefused)).toEqual(texts)
      }),
    )
  })

  it('never begins as a formula does', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        expect(defused(value)).not.toMatch(/^[=+\-@\t\r\n]/)
      }),
    )
    for (const formula of ['=1+1', '+1', '-1', '@sum', "'=1", "''=1", '\t=1', '\uff1d1'])
      expect(undefused(defused(formula))).toBe(formula)
  })

  it('keeps the items of a list apart', () => {
    fc.assert(
      fc.property(fc.array(anyText), (items) => {
        expect(splitItems(joinItems(items))).toEqual(items)
      }),
    )
    expect(joinItems(['sea view', 'pool'])).toBe('sea view|pool')
    expect(splitItems('a|b')).toEqual(['a', 'b'])
  })

  it('tells no list from an empty one only where that makes a difference', () => {
    expect(cellWriter(listOf(text({}), {}))([])).toBe('[]')
    expect(cellWriter(listOf(text({}), {}))(null)).toBe('')
    expect(cellWriter(listOf(text({}), { default: [] }))([])).toBe('')
  })
})
