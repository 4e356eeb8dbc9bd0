import { Readable } from 'node:stream'
import type { Tx } from '../../kernel/context.ts'
import { csvLine, defused, quoted } from '../../kernel/csv.ts'
import { ownColumns } from './columns.ts'
import { rejectsOf } from './queries.ts'
import type { Import } from './schema.ts'

const rowsAtOnce = 500

/** The refused rows as they stood in the file, with what is wrong with each: to be mended and sent again. */
export function rejectFile(tx: Tx, { id, columns, format }: Import): Readable {
  async function* lines() {
    // Rows of XML have a cell for every field there is.
    yield csvLine([...columns, ...ownColumns].map(quoted))
    for (let after = 0; ; ) {
      const rejects = await rejectsOf(tx, id, after, rowsAtOnce)
      for (const { line, cells, problems } of rejects) {
        const padded = columns.map((_, at) => cells[at] ?? null)
        const reasons = problems.map(
          ({ column, message }) => `${column ?? (format === 'csv' ? 'line' : 'record')} ${message}`,
        )
        yield csvLine([
          // Sent before and sent again as it was: what was defused is so still.
          ...padded.map((cell) => (cell === null ? '' : quoted(cell))),
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
