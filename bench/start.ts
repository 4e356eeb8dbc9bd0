import { newDataDir, removeDataDir, startProduct } from './process.ts'
import { median, progress, type Row, type Table } from './report.ts'

const rounds = 3
const goals = { first: 8, later: 3 }

/** From the command to the first answer of the API: on an empty folder, demo data included, and once more on the same. */
export async function measureStart(): Promise<Table> {
  const first: number[] = []
  const later: number[] = []
  for (let round = 0; round < rounds; round++) {
    progress(`start: round ${round + 1}`)
    const dataDir = await newDataDir()
    try {
      first.push(await secondsToStart(dataDir))
      later.push(await secondsToStart(dataDir))
    } finally {
      await removeDataDir(dataDir)
    }
  }
  progress('')
  return {
    title: 'Start: seconds from the command to the first answer of the API',
    columns: ['', 'median', 'slowest', 'goal'],
    rows: [
      rowOf('first start, on an empty folder', first, goals.first),
      rowOf('later start', later, goals.later),
    ],
  }
}

async function secondsToStart(dataDir: string): Promise<number> {
  const product = await startProduct(dataDir)
  await product.stop()
  return product.startedInMs / 1_000
}

const rowOf = (name: string, seconds: number[], goal: number): Row => ({
  cells: [name, median(seconds).toFixed(2), Math.max(...seconds).toFixed(2), `< ${goal}`],
  met: median(seconds) < goal,
})
