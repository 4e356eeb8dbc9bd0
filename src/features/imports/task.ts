import { undefused } from '../../kernel/csv.ts'
import type { Leaf } from '../../kernel/fields.ts'
import { isDate, isText } from '../../kernel/formats.ts'
import { isId } from '../../kernel/ids.ts'
import type { Column } from '../../kernel/resource.ts'
import { problemsOf } from '../../kernel/validate.ts'
import { cellValue, setAt } from './cells.ts'
import { settable } from './columns.ts'
import type { Row } from './rows.ts'
import type { RowProblem } from './schema.ts'
import type { Restored, Target } from './target.ts'

/** A row on its way to becoming a record. */
export interface Task {
  row: number
  line: number
  cells: Row['cells']
  body: Record<string, unknown>
  restored: Restored
  problems: RowProblem[]
}

export interface Plan {
  target: Target
  /** The columns of the file by name, and the field that each means. */
  columns: string[]
  fields: (string | null)[]
  /** Whether an apostrophe may stand before what looks like a formula. */
  isDefused: boolean
  isUtf8: boolean
  now: Date
}

type Reader = (row: Row, number: number) => Task

/** Makes the function that reads rows by a plan. */
export function taskReader(plan: Plan): Reader {
  const known = settable(plan.target)
  const readers = plan.fields.map((field) => (field === null ? undefined : known.get(field)))
  return ({ line, cells, broken }, row) => {
    const task: Task = { row, line, cells, body: {}, restored: {}, problems: [] }
    const wrong = broken ?? raggedness(plan, cells.length)
    if (wrong) {
      task.problems.push({ column: null, message: wrong })
      return task
    }
    for (const [at, column] of readers.entries()) {
      const message = column && readCell(plan, task, at, column)
      if (message) task.problems.push({ column: plan.columns[at]!, message })
    }
    return task
  }
}

function raggedness({ columns }: Plan, count: number): string | undefined {
  if (count === columns.length) return undefined
  return `has ${count} cells where the header has ${columns.length}.`
}

/** What is wrong with a cell; undefined when its value is where it belongs. */
function readCell(plan: Plan, task: Task, at: number, { path, leaf }: Column): string | undefined {
  const cell = task.cells[at]!
  if (cell === null) return undefined
  if (!plan.isUtf8 && cell.includes('\ufffd')) return 'is not valid UTF-8; save the file as UTF-8.'
  if (!isText(cell)) return 'must be valid text without NUL characters.'
  const isTime = leaf.schema.format === 'date-time'
  const found = cellValue(plan.isDefused ? undefused(cell) : cell, leaf)
  if (found === undefined) return undefined
  const value = isTime ? asTimestamp(String(found)) : found
  const name = path[0]!
  if (!plan.target.restores.includes(name)) setAt(task.body, path, value)
  else if (name === 'id') readId(plan, task, String(value).trim())
  // Whatever it is called there: its id is put in its place later.
  else if (name in plan.target.references && !plan.target.nameWithin?.[name]) task.restored[name] = value
  else return readRestored(plan, task, name, leaf, value)
  return undefined
}

function readRestored(
  { now }: Plan,
  task: Task,
  name: string,
  { schema }: Leaf,
  value: unknown,
): string | undefined {
  const [problem] = problemsOf(schema, value)
  if (problem) return problem.message
  const isTime = schema.format === 'date-time'
  if (isTime && new Date(value as string) > now) return 'must not be in the future.'
  task.restored[name] = isTime ? new Date(value as string).toISOString() : value
  return undefined
}

/** An id of ours is kept; any other is what the record is called elsewhere. */
function readId({ target, fields }: Plan, task: Task, id: string): void {
  if (isId(target.resource.prefix, id)) task.restored.id = id
  else if ('external_id' in target.resource.fields && !fields.includes('external_id'))
    task.body.external_id = id
}

/** `2026-01-31` and `2026-01-31 09:30` are times too, in UTC. */
function asTimestamp(text: string): string {
  if (isDate(text)) return `${text}T00:00:00Z`
  const joined = text.replace(/^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2})/, '$1T$2')
  return /(Z|[+-]\d{2}:\d{2})$/.test(joined) ? joined : `${joined}Z`
}

/** The column that a problem of a field is about; the field's own name where no column means it. */
export function columnOf({ columns, fields }: Plan, field: string): string {
  const path = field.replaceAll(/\[\d+\]/g, '')
  const at = fields.findIndex((one) => one === path || (one?.startsWith(`${path}.`) ?? false))
  return columns[at] ?? field
}

/** In the order of the columns; what is missing altogether comes last. */
export function sortProblems({ columns }: Plan, { problems }: Task): void {
  const placeOf = ({ column }: RowProblem) => {
    const at = column === null ? -1 : columns.indexOf(column)
    return at < 0 && column !== null ? columns.length : at
  }
  problems.sort((a, b) => placeOf(a) - placeOf(b))
}
