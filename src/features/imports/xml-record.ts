import { joinItems } from '../../kernel/csv.ts'
import { guessesFor, normal, settable } from './columns.ts'
import type { Target } from './target.ts'

/** What a file of XML looks like, and what its elements mean. */
export interface XmlShape {
  root: string
  /** The name of a record. */
  element: string
  /** The fields in the order of the cells. */
  names: string[]
  /** The field that an element means by its dotted name; null for one that is left out, undefined for one that means none. */
  fieldOf(path: string): string | null | undefined
  isList(field: string): boolean
}

/**
 * A file of XML has a cell for every field there is. Elements that were explained by a mapping follow, and
 * have no text of their own: what they hold goes to the cell of their field.
 */
export function xmlColumns(target: Target, mapping: Record<string, string | null>) {
  const names = [...settable(target).keys()]
  return {
    columns: [...names, ...Object.keys(mapping)],
    fields: [...names, ...Object.values(mapping)],
    ignored: Object.keys(mapping).filter((name) => mapping[name] === null),
  }
}

export function xmlShape(target: Target, columns: string[], fields: (string | null)[]): XmlShape {
  const { resource } = target
  const known = settable(target)
  const names = [...known.keys()]
  const guesses = guessesFor(names)
  const shown = new Set(resource.columns.map(({ path }) => path.join('.')))
  const mapped = new Map(columns.map((name, at) => [name, fields[at]!] as const).slice(names.length))
  return {
    root: resource.plural,
    element: resource.name,
    names: columns,
    fieldOf: (path) => {
      if (mapped.has(path)) return mapped.get(path)!
      if (known.has(path)) return path
      // What only the service sets is sent back by those who send what they got.
      return shown.has(path) ? null : guesses.get(normal(path))
    },
    isList: (field) => [known.get(field)?.leaf.schema.type].flat()[0] === 'array',
  }
}

interface Texts {
  texts: Map<string, string>
  broken?: string
}

/** The texts of a record by field. Repeated elements, and elements of an element whose name says many, are the items of a list. */
export function textsOf(shape: XmlShape, record: unknown): Texts {
  const texts = new Map<string, string>()
  try {
    collect(shape, record, [], texts)
    return { texts }
  } catch (error) {
    if (!(error instanceof Misshapen)) throw error
    return { texts, broken: error.message }
  }
}

class Misshapen extends Error {}

function collect(shape: XmlShape, value: unknown, path: string[], texts: Map<string, string>): void {
  if (value === null || value === undefined || value === '') return
  const name = path.join('.')
  const field = shape.fieldOf(name)
  if (field === null) return
  const items = itemsOf(value, path)
  if (!items && typeof value === 'object') {
    for (const [part, inside] of Object.entries(value)) collect(shape, inside, [...path, part], texts)
    return
  }
  if (field === undefined) throw new Misshapen(`has an element ${name} that means no field.`)
  if (texts.has(field) || (items && !shape.isList(field)))
    throw new Misshapen(`has several elements for ${field}.`)
  if (items?.some((item) => typeof item !== 'string'))
    throw new Misshapen(`has elements inside the items of ${name}.`)
  texts.set(field, items ? joinItems(items) : String(value))
}

function itemsOf(value: unknown, path: string[]): unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (typeof value !== 'object' || path.length === 0) return undefined
  const [only, ...others] = Object.entries(value as object)
  const isList = only && others.length === 0 && singulars(path.at(-1)!).includes(only[0])
  return isList ? [only[1]].flat() : undefined
}

/** `tags` → `tag`, `interested_properties` → `interested_property`, `property`; and the plain word `item`. */
function singulars(name: string): string[] {
  const whole = name.endsWith('ies') ? `${name.slice(0, -3)}y` : name.replace(/s$/, '')
  return [whole, whole.split('_').at(-1)!, 'item']
}

const notText = /(<!\[CDATA\[[\s\S]*?\]\]>|<!--[\s\S]*?-->)/
const reference = /&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([^\s&;<]{1,100}));/gi
const predefined = ['amp', 'lt', 'gt', 'quot', 'apos']

/** Writes characters that are given by number as themselves. Any entity that XML does not define is refused. */
export function plainEntities(xml: string): string {
  const written = (whole: string, hex?: string, decimal?: string, name?: string): string => {
    if (name !== undefined && predefined.includes(name)) return whole
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal)
    if (name !== undefined || code > 0x10ffff) throw new Error(`${whole} is not accepted.`)
    const char = String.fromCodePoint(code)
    return char === '&' ? '&amp;' : char === '<' ? '&lt;' : char
  }
  const parts = xml.split(notText)
  return parts.map((part, at) => (at % 2 === 0 ? part.replaceAll(reference, written) : part)).join('')
}
