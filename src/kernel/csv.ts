import type { Leaf } from './fields.ts'

/*
 * How values become cells of a CSV file, and text again. Lists stand in one cell with `|` between
 * their items. An empty cell is no value, so that an empty text comes back as none; a list without items is
 * `[]` where that is not the same as no value.
 */

export type Cell = string | null

/** Of a list: `|` and `\` inside an item are written `\|` and `\\`. */
export function joinItems(items: readonly unknown[]): string {
  if (items.length === 0) return '[]'
  const joined = items.map((item) => String(item).replaceAll(/[\\|]/g, '\\$&')).join('|')
  return joined === '[]' ? '\\[]' : joined
}

export function splitItems(cell: string): string[] {
  if (cell === '[]') return []
  const items = ['']
  for (let at = 0; at < cell.length; at++) {
    const char = cell[at]!
    if (char === '|') items.push('')
    else items[items.length - 1] += char === '\\' && at + 1 < cell.length ? cell[++at]! : char
  }
  return items
}

// What spreadsheets take for a formula, and texts that already look defused: undoing must give back each.
const looksLikeFormula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
const isDefused = /^'+[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/** An apostrophe before a text that a spreadsheet would compute. */
export const defused = (text: string): string => (looksLikeFormula.test(text) ? `'${text}` : text)
export const undefused = (text: string): string => (isDefused.test(text) ? text.slice(1) : text)

const needsQuotes = /[",;\t\r\n|]|^$|^\s|\s$/

export const quoted = (text: string): string =>
  needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** The function that writes values of one field. */
export function cellWriter({ schema, marks }: Leaf): (value: unknown) => string {
  const type = [schema.type].flat()[0]
  if (type === 'number' || type === 'integer' || type === 'boolean') {
    return (value) => (value === null || value === undefined ? '' : String(value))
  }
  // Without a default, a list may also be no list at all.
  const emptyIsNothing = marks.default !== undefined
  if (type === 'array') {
    return (value) => {
      const items = value as unknown[] | null
      if (!items || (items.length === 0 && emptyIsNothing)) return ''
      return quoted(defused(joinItems(items)))
    }
  }
  return (value) => (value === null || value === undefined ? '' : quoted(defused(value as string)))
}

export const csvLine = (cells: string[]): string => `${cells.join(',')}\r\n`
