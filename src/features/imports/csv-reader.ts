import type { Cell } from '../../kernel/csv.ts'
import { mostRowBytes, type Position, type Row, type RowReader } from './rows.ts'

const quote = 0x22
const lineFeed = 0x0a
const carriageReturn = 0x0d

type Scan = { cells: Cell[]; next: number; lines: number } | { wrong: string } | 'incomplete'

/**
 * Reads CSV from any row of a file on, and tells for each row where the next one begins: that is how
 * an import goes on where it stopped. A row with broken quotes costs that line alone. Bytes are looked
 * at, not characters: in UTF-8 the marks of CSV never occur inside another character.
 */
export class CsvReader implements RowReader {
  readonly #separator: number
  #rest: Buffer = Buffer.alloc(0)
  #at: Position

  constructor(separator: string, from: Position) {
    this.#separator = separator.charCodeAt(0)
    this.#at = { ...from }
  }

  push(bytes: Buffer): Row[] {
    return this.#read(bytes, false)
  }

  end(): Row[] {
    return this.#read(Buffer.alloc(0), true)
  }

  #read(bytes: Buffer, isLast: boolean): Row[] {
    const buffer = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes
    const rows: Row[] = []
    let start = 0
    while (start < buffer.length) {
      const scan = scanRow(buffer, start, this.#separator, isLast)
      const isStuck = scan === 'incomplete' && (isLast || buffer.length - start > mostRowBytes)
      if (scan === 'incomplete' && !isStuck) break
      const line = this.#at.line
      if (scan === 'incomplete' || 'wrong' in scan) {
        const next = afterLine(buffer, start)
        // The line itself is still coming in.
        if (next === undefined && !isLast && !isStuck) break
        const end = next ?? buffer.length
        const broken = scan === 'incomplete' ? 'has a quote that is not closed.' : scan.wrong
        this.#advance(end - start, 1)
        rows.push({ line, end: { ...this.#at }, cells: textOf(buffer, start, end), broken })
        start = end
        continue
      }
      this.#advance(scan.next - start, scan.lines)
      start = scan.next
      if (scan.cells.some((cell) => cell !== null))
        rows.push({ line, end: { ...this.#at }, cells: scan.cells })
    }
    this.#rest = buffer.subarray(start)
    return rows
  }

  #advance(bytes: number, lines: number): void {
    this.#at.offset += bytes
    this.#at.line += lines
  }
}

function scanRow(buffer: Buffer, start: number, separator: number, isLast: boolean): Scan {
  const cells: Cell[] = []
  let at = start
  let lines = 1
  for (;;) {
    if (buffer[at] === quote) {
      const closing = closingQuote(buffer, at + 1)
      if (closing === undefined) return 'incomplete'
      const text = buffer.toString('utf8', at + 1, closing)
      cells.push(text.includes('""') ? text.replaceAll('""', '"') : text)
      for (let inside = at; inside < closing; inside++) if (buffer[inside] === lineFeed) lines++
      at = closing + 1
    } else {
      const begin = at
      while (at < buffer.length && !isEnd(buffer[at]!, separator)) at++
      cells.push(at === begin ? null : buffer.toString('utf8', begin, at))
    }
    if (at >= buffer.length) return isLast ? { cells, next: at, lines } : 'incomplete'
    const mark = buffer[at]!
    if (mark === separator) {
      at++
      continue
    }
    if (mark === lineFeed) return { cells, next: at + 1, lines }
    if (mark !== carriageReturn) return { wrong: 'has text after a closing quote.' }
    if (at + 1 >= buffer.length && !isLast) return 'incomplete'
    return { cells, next: buffer[at + 1] === lineFeed ? at + 2 : at + 1, lines }
  }
}

const isEnd = (byte: number, separator: number) =>
  byte === separator || byte === lineFeed || byte === carriageReturn

/** Undefined while it has not come yet; a doubled quote is part of the text. */
function closingQuote(buffer: Buffer, from: number): number | undefined {
  for (let at = buffer.indexOf(quote, from); at >= 0; at = buffer.indexOf(quote, at + 2)) {
    if (buffer[at + 1] !== quote) return at
  }
  return undefined
}

function afterLine(buffer: Buffer, start: number): number | undefined {
  const at = buffer.indexOf(lineFeed, start)
  return at < 0 ? undefined : at + 1
}

// Shown to whoever mends it, so not longer than a person reads.
const textOf = (buffer: Buffer, start: number, end: number): Cell[] => [
  buffer.toString('utf8', start, Math.min(end, start + 10_000)).trimEnd(),
]

/** The separator of a file: whichever of them its first line has most of, outside of quotes. */
export function separatorOf(head: string): string {
  const bare = head.split(/\r?\n|\r/, 1)[0]!.replaceAll(/"[^"]*"/g, '')
  const count = (separator: string) => bare.split(separator).length
  return [',', ';', '\t'].reduce((best, one) => (count(one) > count(best) ? one : best))
}
