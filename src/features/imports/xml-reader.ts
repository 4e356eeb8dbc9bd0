import { XMLParser } from 'fast-xml-parser'
import { joinItems } from '../../kernel/csv.ts'
import { mostRowBytes, type Position, type Row, type RowReader, UnreadableFile } from './rows.ts'

const mostDepth = 6

/** Only what XML itself defines is replaced. No entity can be declared, so none can grow or reach outside. */
const parser = new XMLParser({
  processEntities: true,
  htmlEntities: true,
  ignoreAttributes: true,
  parseTagValue: false,
  trimValues: true,
  ignoreDeclaration: true,
})

/**
 * Reads `<leads><lead>…</lead></leads>`: finds where each record begins and ends, and leaves what is
 * inside to the parser. Declarations of a document type are refused whatever they declare.
 */
export class XmlReader implements RowReader {
  readonly #names: string[]
  #rest: Buffer = Buffer.alloc(0)
  #at: Position
  #depth: number
  #isClosed = false
  fault: UnreadableFile | undefined

  /** `names` are the fields in the order of the cells. Past the beginning, the outermost element is open already. */
  constructor(names: string[], from: Position) {
    this.#names = names
    this.#at = { ...from }
    this.#depth = from.offset > 0 ? 1 : 0
  }

  push(bytes: Buffer): Row[] {
    const rows: Row[] = []
    try {
      this.#read(bytes, rows)
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw error
      this.fault = error
    }
    return rows
  }

  end(): Row[] {
    if (!this.#isClosed) this.fault ??= new UnreadableFile('The file ends before its elements do.')
    return []
  }

  #read(bytes: Buffer, rows: Row[]): void {
    const buffer = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes
    let done = 0
    let from = 0
    // Begins anew at the last record that was not whole.
    let depth = this.#depth
    let recordAt = -1
    for (;;) {
      const tag = nextTag(buffer, from)
      if (!tag) break
      from = tag.end
      if (tag.kind === 'other') continue
      if (this.#isClosed) throw new UnreadableFile('There is more after the outermost element.')
      if (tag.kind === 'open') {
        if (depth === 1) recordAt = tag.start
        if (!tag.isEmpty) depth++
        if (depth > mostDepth) throw new UnreadableFile(`Elements are nested more than ${mostDepth} deep.`)
      } else depth--
      if (depth < 0) throw new UnreadableFile('An element is closed that was not opened.')
      if (depth === 1 && recordAt >= 0) {
        const line = this.#at.line + lineFeeds(buffer, done, recordAt)
        this.#at.line += lineFeeds(buffer, done, from)
        this.#at.offset += from - done
        rows.push({ line, end: { ...this.#at }, ...this.#record(buffer.subarray(recordAt, from)) })
        done = from
        recordAt = -1
        this.#depth = 1
      }
      if (depth === 0) this.#isClosed = true
    }
    if (buffer.length - done > mostRowBytes) throw new UnreadableFile('A record is larger than 1 MiB.')
    this.#rest = this.#isClosed ? Buffer.alloc(0) : buffer.subarray(done)
  }

  #record(bytes: Buffer): Pick<Row, 'cells' | 'broken'> {
    let record: unknown
    try {
      const [root] = Object.values(parser.parse(bytes.toString('utf8'), true))
      record = root
    } catch (error) {
      const broken = `is not well-formed: ${(error as Error).message}`
      return { cells: [bytes.toString('utf8', 0, 10_000)], broken }
    }
    const found = new Map<string, string>()
    collect(record, [], found)
    const unknown = [...found.keys()].find((name) => !this.#names.includes(name))
    const cells = this.#names.map((name) => found.get(name) ?? null)
    return unknown ? { cells, broken: `has an element ${unknown} that means no field.` } : { cells }
  }
}

/** Texts by dotted name. Repeated elements, and elements of an element whose name says many, are the items of a list. */
function collect(value: unknown, path: string[], found: Map<string, string>): void {
  if (value === null || value === undefined || value === '') return
  if (typeof value !== 'object') return void found.set(path.join('.'), String(value))
  if (Array.isArray(value)) return void found.set(path.join('.'), joinItems(value))
  const entries = Object.entries(value)
  const [only] = entries
  const isList = entries.length === 1 && path.length > 0 && singulars(path.at(-1)!).includes(only![0])
  if (isList) return void found.set(path.join('.'), joinItems([only![1]].flat()))
  for (const [name, part] of entries) collect(part, [...path, name], found)
}

/** `tags` → `tag`, `interested_properties` → `interested_property`, `property`; and the plain word `item`. */
function singulars(name: string): string[] {
  const whole = name.endsWith('ies') ? `${name.slice(0, -3)}y` : name.replace(/s$/, '')
  return [whole, whole.split('_').at(-1)!, 'item']
}

type Tag = { kind: 'open' | 'close' | 'other'; start: number; end: number; isEmpty: boolean }

/** Undefined when it is not whole yet. */
function nextTag(buffer: Buffer, from: number): Tag | undefined {
  const start = buffer.indexOf('<', from)
  if (start < 0) return undefined
  const begins = (text: string) => buffer.toString('latin1', start, start + text.length) === text
  const upTo = (text: string): Tag | undefined => {
    const at = buffer.indexOf(text, start)
    return at < 0 ? undefined : { kind: 'other', start, end: at + text.length, isEmpty: false }
  }
  if (begins('<!--')) return upTo('-->')
  if (begins('<![CDATA[')) return upTo(']]>')
  if (begins('<?')) return upTo('?>')
  if (begins('<!')) {
    if (buffer.length - start < 9) return undefined
    throw new UnreadableFile('Declarations such as DOCTYPE and ENTITY are not accepted.')
  }
  const close = buffer.indexOf('>', start)
  if (close < 0) return undefined
  const kind = begins('</') ? 'close' : 'open'
  return { kind, start, end: close + 1, isEmpty: buffer[close - 1] === 0x2f }
}

function lineFeeds(buffer: Buffer, from: number, to: number): number {
  let count = 0
  for (let at = buffer.indexOf(0x0a, from); at >= 0 && at < to; at = buffer.indexOf(0x0a, at + 1)) count++
  return count
}
