import { availableParallelism, loadavg } from 'node:os'

/** What a suite found. A row whose goal was missed is marked. */
export interface Table {
  title: string
  columns: string[]
  rows: Row[]
  notes?: string[]
}

export interface Row {
  cells: (string | number)[]
  /** Undefined where there is no goal. */
  met?: boolean
}

export function printTable({ title, columns, rows, notes = [] }: Table): void {
  const lines = [[...columns, ''], ...rows.map(({ cells, met }) => [...cells.map(String), verdict(met)])]
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const [head, ...body] = lines.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
  const rule = '-'.repeat(widths.reduce((sum, width) => sum + width + 2, 0))
  process.stdout.write(`\n${[title, '', head, rule, ...body, '', ...notes].join('\n')}\n`)
}

const verdict = (met: boolean | undefined) => (met === undefined ? '' : met ? 'met' : 'MISSED')

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** A busy machine makes ratios of requests worthless long before it moves the processor time of one request. */
export function busyNote(): string | undefined {
  const [load] = loadavg()
  const cores = availableParallelism()
  if (load! < cores * 1.5) return undefined
  return `The machine was busy (load ${load!.toFixed(1)} on ${cores} cores): trust the processor time, not the ratios.`
}

/** A line that says what is going on, on a terminal only: the tables are the output. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text}`)
}
