import { type Cell, splitItems } from '../../kernel/csv.ts'
import type { Leaf } from '../../kernel/fields.ts'

/** The value of a cell; undefined where it says nothing. What cannot be a value stays text, for validation to name. */
export function cellValue(cell: Cell, leaf: Leaf): unknown {
  // Programs that quote every cell mean nothing by an empty one.
  if (cell === null || cell === '') return undefined
  const type = [leaf.schema.type].flat()[0]
  if (type === 'string') return stringOf(cell, leaf)
  if (type === 'array') return splitItems(cell)
  const text = cell.trim()
  if (text === '') return undefined
  if (type === 'boolean') return booleans[text.toLowerCase()] ?? text
  return /^-?\d{1,16}(\.\d{1,16})?$/.test(text) ? Number(text) : text
}

const booleans: Record<string, boolean> = {
  true: true,
  yes: true,
  '1': true,
  false: false,
  no: false,
  '0': false,
}

function stringOf(cell: string, { schema }: Leaf): string {
  // Names and notes keep their spaces; whatever has a form of its own does not.
  if (schema.format === 'text' && !schema.enum && !schema.pattern) return cell
  const text = cell.trim()
  const choices = schema.enum as string[] | undefined
  if (!choices || choices.includes(text)) return text
  const loose = text.toLowerCase().replaceAll(/[\s-]+/g, '_')
  return choices.includes(loose) ? loose : text
}

/** Puts a value at a place, making the objects around it. */
export function setAt(body: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let holder = body
  for (const name of path.slice(0, -1)) {
    holder[name] ??= {}
    holder = holder[name] as Record<string, unknown>
  }
  holder[path.at(-1)!] = value
}
