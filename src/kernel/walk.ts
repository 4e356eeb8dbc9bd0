import { Readable } from 'node:stream'
import type { Tx } from './context.ts'
import { unavailable } from './errors.ts'
import { conditionsOf, type ListSource, orderOf } from './list.ts'
import type { ListQuery } from './list-query.ts'
import { type Pool, raw } from './sql.ts'

/*
 * Whole lists, of any length, at the memory of a few hundred rows. A walk reads one snapshot on a
 * connection of its own, only as fast as the caller takes the rows, and lets go of it when the caller
 * goes away.
 */

// 500 rows of a wide table are about 200 kB. Larger steps were no faster, and made other requests wait.
const rowsAtOnce = 500
// A caller who takes nothing for so long holds up a connection for nobody.
const patienceMs = 60_000

/** Walks hold connections for as long as callers like, so most of the pool stays free of them. */
const mostAtOnce = (pool: Pool) => Math.max(1, Math.floor(pool.options.max / 4))
const walking = new WeakMap<Pool, number>()

type Row = Record<string, unknown>

/** The rows of a list in batches, as text. `write` makes text of a batch; `before` and `after` stand around it all. */
export async function walkAsText<R>(
  tx: Tx,
  source: ListSource<R>,
  query: ListQuery,
  text: { before: string; write(rows: Row[], isFirst: boolean): string; after: string },
): Promise<Readable> {
  const batches = walk(tx, source, query)
  // The first rows are waited for, so that a statement that fails is still answered as an error.
  const first = await batches.next()
  let bytes: Readable
  const giveUp = setTimeout(() => bytes.destroy(new Error('The caller has stopped reading.')), patienceMs)
  giveUp.unref()
  async function* written() {
    try {
      yield text.before
      let isFirst = true
      for (let batch = first; !batch.done; batch = await batches.next()) {
        giveUp.refresh()
        yield text.write(batch.value, isFirst)
        isFirst = false
      }
      yield text.after
    } finally {
      clearTimeout(giveUp)
      await batches.return()
    }
  }
  bytes = Readable.from(written(), { objectMode: false })
  // A stream that is destroyed before it was read never starts its generator.
  bytes.once('close', () => void batches.return())
  return bytes
}

async function* walk<R>(tx: Tx, source: ListSource<R>, query: ListQuery): AsyncGenerator<Row[], void, void> {
  const pool = tx.sql as Pool
  const others = walking.get(pool) ?? 0
  if (others >= mostAtOnce(pool)) throw unavailable('Too many exports are running; try again shortly.')
  walking.set(pool, others + 1)
  try {
    const sql = await pool.reserve()
    try {
      await sql`begin isolation level repeatable read read only`
      const rows = sql`
        select ${source.select} from ${raw(sql, source.resource.table)}
        where ${conditionsOf(tx, source, query)}
        order by ${raw(sql, orderOf(source.resource, query))}`
      for await (const batch of rows.cursor(rowsAtOnce)) yield batch as Row[]
    } finally {
      await sql`rollback`.catch(() => {})
      sql.release()
    }
  } finally {
    walking.set(pool, walking.get(pool)! - 1)
  }
}
