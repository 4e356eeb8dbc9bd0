import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { useHarness } from '../../test/harness.ts'
import { contains, type Filter, hasAny, onOrAfterDay, onOrBeforeDay, sameText } from './filters.ts'
import { WrongValue } from './query.ts'

const harness = useHarness()

/** Whether a row with this value in both columns passes the filter. */
async function passes(filter: Filter<never>, text: string, type: string, value: unknown): Promise<boolean> {
  const { sql } = harness
  const parsed = filter.param.parse(text)
  if (parsed instanceof WrongValue) throw new Error(parsed.message)
  const condition = filter.where(sql, parsed as never, 'ws_test')
  const rows = await sql`
    select from (select ${value as string}::${sql.unsafe(type)} as a, null::${sql.unsafe(type)} as b) as given
    where ${condition}`
  return rows.length > 0
}

// Everything that means something to SQL, to LIKE or to arrays.
const tricky = fc.string({
  unit: fc.constantFrom('a', 'B', '%', '_', '\\', "'", '"', ';', '-', ' ', '{', '}', '$', '1', 'é', '🏠'),
  maxLength: 6,
})

describe('a filter by text', () => {
  it('finds a part of a value, each character standing for itself', () =>
    fc.assert(
      fc.asyncProperty(tricky, tricky, async (value, wanted) => {
        const found = await passes(contains(['a', 'b'], '') as never, wanted, 'text', value)
        expect(found).toBe(value.toLowerCase().includes(wanted.toLowerCase()))
      }),
      {
        numRuns: 300,
        examples: [
          ['100% a_b\\', '%'],
          ['abc', '_'],
          ['É', 'é'],
          ["o'a", "'"],
          ['a\\', '\\'],
        ],
      },
    ))

  it('finds a whole value, whatever the case', () =>
    fc.assert(
      fc.asyncProperty(tricky, tricky, async (value, wanted) => {
        const filter = sameText(['a', 'b'], '') as never
        expect(await passes(filter, value.toUpperCase(), 'text', value)).toBe(true)
        const found = await passes(filter, wanted, 'text', value)
        expect(found).toBe(value.toLowerCase() === wanted.toLowerCase())
      }),
      { numRuns: 200 },
    ))
})

describe('a filter by tags', () => {
  it.each([
    ['hot', ['hot', 'new'], true],
    ['cold,new', ['hot', 'new'], true],
    [' new , cold ', ['hot', 'new'], true],
    ['cold', ['hot', 'new'], false],
    ['ho', ['hot'], false],
    ["h'o{t}", ["h'o{t}"], true],
    ['hot', [], false],
  ])('%s of %j: %s', async (wanted, tags, expected) => {
    expect(await passes(hasAny('a', '') as never, wanted, 'text[]', tags)).toBe(expected)
  })
})

describe('a filter by day', () => {
  const day = (text: string, filter: Filter<string>, at: string) =>
    passes(filter as never, text, 'timestamptz', at)
  const after = onOrAfterDay('a', '')
  const before = onOrBeforeDay('a', '')

  it.each([
    ['2026-03-01', '2026-03-01T00:00:00.000Z', true, true],
    ['2026-03-01', '2026-03-01T23:59:59.999Z', true, true],
    ['2026-03-01', '2026-02-28T23:59:59.999Z', false, true],
    ['2026-03-01', '2026-03-02T00:00:00.000Z', true, false],
    ['2026-03-01T12:00:00Z', '2026-03-01T00:00:00.000Z', true, true],
    ['2026-03-01T01:00:00+02:00', '2026-02-28T05:00:00.000Z', true, true],
    ['2026-03-01T01:00:00 02:00', '2026-03-01T00:00:00.000Z', true, false],
  ])('%s and %s: on or after %s, on or before %s', async (text, at, isAfter, isBefore) => {
    expect([await day(text, after, at), await day(text, before, at)]).toEqual([isAfter, isBefore])
  })

  it.each(['', 'yesterday', '2026-02-30', '2026-3-1', '01.03.2026', '2026-03-01T25:00:00Z', '1772323200'])(
    'refuses "%s"',
    (text) => {
      expect(after.param.parse(text)).toBeInstanceOf(WrongValue)
    },
  )
})
