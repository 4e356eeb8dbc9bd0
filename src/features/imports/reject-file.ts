import { Readable } from 'node:stream'
import type { Tx } from '../../kernel/context.ts'
import { csvLine, defused, joinItems, quoted, undefused } from '../../kernel/csv.ts'
import { ownColumns, settable } from './columns.ts'
import { rejectsOf } from './queries.ts'
import type { Import } from './schema.ts'
import { targetOf } from './targets.ts'

const rowsAtOnce = 500

/** The refused rows as they stood in the file, with what is wrong with each: to be mended and sent again. */
export function rejectFile(tx: Tx, { id, columns, format, resource }: Import): Readable {
  // Rows of XML have a cell for every field there is, and no more.
  const named = format === 'csv' ? columns : columns.slice(0, settable(targetOf(resource)).size)
  // What was defused when it was sent is so still; the rest has to be, as in any file of ours.
  const written = (cell: string) => quoted(defused(format === 'csv' ? undefused(cell) : cell))
  async function* lines() {
    yield csvLine([...named, ...ownColumns].map(written))
    for (let after = 0; ; ) {
      const rejects = await rejectsOf(tx, id, after, rowsAtOnce)
      for (const { line, cells, problems } of rejects) {
        const padded = named.map((_, at) => cells[at] ?? null)
        const surplus = cells.slice(columns.length)
        const reasons = problems.map(
          ({ column, message }) => `${column ?? (format === 'csv' ? 'line' : 'record')} ${message}`,
        )
        yield csvLine([
          ...padded.map((cell) => (cell === null ? '' : written(cell))),
          surplus.length > 0 ? quoted(defused(joinItems(surplus.map((cell) => cell ?? '')))) : '',
          String(line),
          quoted(defused(reasons.join(' '))),
        ])
      }
      if (rejects.length < rowsAtOnce) return
      after = rejects.at(-1)!.row
    }
  }
  return Readable.from(lines(), { objectMode: false })
}
