import { startFilledProduct } from './filled.ts'
import { interleaved, ratio, spread, startLoad, warmUp } from './load.ts'
import { operations, reads, requestsOf } from './operations.ts'
import { peakMemoryMb, type Variant } from './process.ts'
import { progress, type Row, type Table } from './report.ts'

/** Two builds or settings of the product against each other, each on data of its own. */
async function compare(title: string, against: Variant, wanted: RegExp): Promise<Table> {
  const [ours, theirs] = [await startFilledProduct(), await startFilledProduct(against)]
  const load = startLoad()
  const rows: Row[] = []
  const targets = { ours: ours.product, theirs: theirs.product }
  try {
    for (const operation of reads)
      await warmUp(load, Object.values(targets), ours.headers, requestsOf(operation, ours.data, 0))
    for (const operation of operations.filter(({ name }) => wanted.test(name))) {
      progress(`${title}: ${operation.name}`)
      const requests = (run: number) => requestsOf(operation, ours.data, run)
      const measured = await interleaved(load, targets, ours.headers, requests)
      rows.push({
        cells: [
          operation.name,
          ratio(measured.ours, measured.theirs).toFixed(2),
          spread(measured.ours, measured.theirs),
          Math.round(measured.ours.cpuMicroseconds),
          Math.round(measured.theirs.cpuMicroseconds),
        ],
      })
    }
    const peaks = [ours, theirs].map(({ product }) => `${Math.round(peakMemoryMb(product.pid))} MB`)
    rows.push({ cells: ['peak memory of the process', '', '', ...peaks] })
  } finally {
    progress('')
    load.stop()
    await Promise.all([ours.close(), theirs.close()])
  }
  return { title, columns: ['', 'of the other', 'middle half', 'CPU µs', 'the other'], rows }
}

export const measureLogging = () =>
  compare(
    'Logging: the product as it is, against one that logs nothing',
    { env: { LOG_LEVEL: 'silent' } },
    / get$/,
  )

/** For whoever changes something: the same product from the checkout in BENCH_AGAINST. */
export function compareCheckouts(): Promise<Table> {
  const root = process.env.BENCH_AGAINST
  if (!root) throw new Error('set BENCH_AGAINST to another checkout of this repository')
  return compare(`Change: this checkout against ${root}`, { root }, /./)
}
