import { XMLParser } from 'fast-xml-parser'
import { mostRowBytes, type Position, type Row, type RowReader, UnreadableFile } from './rows.ts'
import { plainEntities, textsOf, type XmlShape } from './xml-record.ts'

const mostDepth = 6

/** Only what XML itself defines is replaced. No entity can be declared, so none can grow or reach outside. */
const parser = new XMLParser({
  processEntities: true,
  htmlEntities: false,
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
  readonly #shape: XmlShape
  #rest: Buffer = Buffer.alloc(0)
  #at: Position
  #depth: number
  #isClosed = false
  fault: UnreadableFile | undefined

  /** Past the beginning, the outermost element is open already. */
  constructor(shape: XmlShape, from: Position) {
    this.#shape = shape
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
        if (depth === 0) this.#requireRoot(nameIn(buffer, tag))
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

  #requireRoot(name: string): void {
    const { root } = this.#shape
    if (name !== root) throw new UnreadableFile(`The outermost element must be ${root}.`)
  }

  #record(bytes: Buffer): Pick<Row, 'cells' | 'broken'> {
    const { names, element } = this.#shape
    const asItStands = { cells: [bytes.toString('utf8', 0, 10_000)] }
    let parsed: Record<string, unknown>
    try {
      parsed = parser.parse(plainEntities(bytes.toString('utf8')), true)
    } catch (error) {
      return { ...asItStands, broken: `is not well-formed: ${(error as Error).message}` }
    }
    const [[name, record]] = Object.entries(parsed) as [[string, unknown]]
    if (name !== element) return { ...asItStands, broken: `must be an element ${element}.` }
    const { texts, broken } = textsOf(this.#shape, record)
    const cells = names.map((name) => texts.get(name) ?? null)
    return broken ? { cells, broken } : { cells }
  }
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
  const close = closingBracket(buffer, start)
  if (close === undefined) return undefined
  const kind = begins('</') ? 'close' : 'open'
  return { kind, start, end: close + 1, isEmpty: buffer[close - 1] === 0x2f }
}

/** Values of attributes may hold one too. */
function closingBracket(buffer: Buffer, from: number): number | undefined {
  let quote: number | undefined
  for (let at = from; at < buffer.length; at++) {
    const byte = buffer[at]!
    if (quote !== undefined) quote = byte === quote ? undefined : quote
    else if (byte === 0x22 || byte === 0x27) quote = byte
    else if (byte === 0x3e) return at
  }
  return undefined
}

const nameIn = (buffer: Buffer, { start, end }: Tag): string =>
  /^<([^\s/>]*)/.exec(buffer.toString('utf8', start, Math.min(end, start + 200)))![1]!

function lineFeeds(buffer: Buffer, from: number, to: number): number {
  let count = 0
  for (let at = buffer.indexOf(0x0a, from); at >= 0 && at < to; at = buffer.indexOf(0x0a, at + 1)) count++
  return count
}
