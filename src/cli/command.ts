import { parseArgs } from 'node:util'

/** A command of the program, or a group of them. */
export interface Command {
  summary: string
  /** What `--help` shows after "plotbase <name>". */
  usage: string
  options?: Record<string, { type: 'string' | 'boolean'; description: string }>
  run(input: CommandInput): Promise<void>
}

export interface CommandInput {
  words: string[]
  options: Record<string, string | boolean | undefined>
  json: boolean
}

/** A wrong call: told in one line, exit code 2. */
export class UsageError extends Error {}

export function parseCommand(command: Command, argv: string[]): CommandInput & { help: boolean } {
  const common = { help: { type: 'boolean', short: 'h' }, json: { type: 'boolean' } } as const
  const own = Object.fromEntries(
    Object.entries(command.options ?? {}).map(([name, { type }]) => [name, { type }]),
  )
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: { ...own, ...common },
      allowPositionals: true,
    })
    const { help = false, json = false, ...options } = values as Record<string, string | boolean | undefined>
    return { words: positionals, options, json: json === true, help: help === true }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

export function helpOf(name: string, command: Command): string {
  const rows = Object.entries(command.options ?? {}).map(
    ([option, { type, description }]) =>
      `  --${option}${type === 'string' ? ' <value>' : ''}`.padEnd(28) + description,
  )
  return [
    `plotbase ${name} ${command.usage}`.trimEnd(),
    '',
    command.summary,
    '',
    ...rows,
    `${'  --json'.padEnd(28)}Print JSON.`,
    `${'  --help'.padEnd(28)}Show this text.`,
  ].join('\n')
}

export function requiredOption(options: CommandInput['options'], name: string): string {
  const value = options[name]
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is required`)
  return value
}

/** Rows as a table for people, or as they are for scripts. */
export function print(rows: object[] | object, json: boolean): void {
  if (json) return void process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
  const list = Array.isArray(rows) ? rows : [rows]
  if (list.length === 0) return void process.stdout.write('None.\n')
  const columns = Object.keys(list[0]!)
  const cell = (row: object, column: string) => shown((row as Record<string, unknown>)[column])
  const widths = columns.map((column) =>
    Math.max(column.length, ...list.map((row) => cell(row, column).length)),
  )
  const line = (cells: string[]) =>
    `${cells
      .map((text, at) => text.padEnd(widths[at]!))
      .join('  ')
      .trimEnd()}\n`
  process.stdout.write(
    line(columns) + list.map((row) => line(columns.map((column) => cell(row, column)))).join(''),
  )
}

const shown = (value: unknown): string =>
  value === null || value === undefined ? '-' : Array.isArray(value) ? value.join(',') : String(value)
