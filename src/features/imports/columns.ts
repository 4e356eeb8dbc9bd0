import type { Problem } from '../../kernel/errors.ts'
import type { Field, Fields } from '../../kernel/fields.ts'
import type { Column } from '../../kernel/resource.ts'
import { synonyms } from './synonyms.ts'
import type { Target } from './target.ts'

/** Which field each column of a file means; null for those that mean none. */
export interface ColumnPlan {
  fields: (string | null)[]
  ignored: string[]
  problems: Problem[]
}

/** Columns that we ourselves add to a file of refused rows. */
export const ownColumns = ['import_rest', 'import_line', 'import_error']

/** Letters and digits alone, without case and accents: `E-Mail` and `e mail` are the same. */
export const normal = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

/** The fields that a file can set, by dotted name. */
export function settable({ resource, restores, extras = [] }: Target): Map<string, Column> {
  const columns = resource.columns.filter(
    ({ path, leaf }) =>
      restores.includes(path[0]!) || !(leaf.marks.derived || resource.fields[path[0]!]!.marks.readOnly),
  )
  return new Map([...columns, ...extras].map((column) => [column.path.join('.'), column]))
}

/** `mapping` gives the field of a column by name, or null to leave the column out; the rest is guessed. */
export function planColumns(
  target: Target,
  header: string[],
  mapping: Record<string, string | null>,
  needsRequired: boolean,
): ColumnPlan {
  const known = settable(target)
  const guesses = guessesFor([...known.keys()])
  const problems = mappingProblems(known, mapping)
  for (const column of Object.keys(mapping)) {
    if (!header.includes(column))
      problems.push({ field: 'mapping', message: `names a column ${column} that the file does not have.` })
  }
  const fields = header.map((column) =>
    Object.hasOwn(mapping, column) ? mapping[column]! : (guesses.get(normal(column)) ?? null),
  )
  for (const field of new Set(fields.filter((one, at) => one !== null && fields.indexOf(one) !== at))) {
    const columns = header.filter((_, at) => fields[at] === field).join(', ')
    problems.push({
      field: 'file',
      message: `has several columns for ${field}: ${columns}. Say which with mapping.`,
    })
  }
  const missing = needsRequired
    ? requiredOf(target.resource.fields).filter((name) => !fields.includes(name))
    : []
  if (missing.length > 0) {
    problems.push({
      field: 'file',
      message: `has no column for ${missing.join(', ')}. Its first line must name the columns; found ${header.join(', ')}.`,
    })
  }
  const ignored = header.filter((name, at) => fields[at] === null && !ownColumns.includes(name))
  return { fields, ignored, problems }
}

export function mappingProblems(
  known: Map<string, Column>,
  mapping: Record<string, string | null>,
): Problem[] {
  const wrong = Object.values(mapping).filter((field) => field !== null && !known.has(field))
  return wrong.map((field) => ({
    field: 'mapping',
    message: `names a field ${field} that a file cannot set.`,
  }))
}

/** From the normal form of a name to the field, surest first: its own name, what people call it, its last part. */
export function guessesFor(paths: string[]): Map<string, string> {
  const guesses = new Map<string, string>()
  const offer = (name: string, path: string) => guesses.has(name) || guesses.set(name, path)
  for (const path of paths) offer(normal(path), path)
  for (const path of paths) for (const name of synonyms[path] ?? []) offer(name, path)
  const lastParts = Map.groupBy(paths, (path) => normal(path.split('.').at(-1)!))
  for (const [name, found] of lastParts) if (found.length === 1) offer(name, found[0]!)
  return guesses
}

/** `name`, `location.city`: what a record cannot be made without. */
function requiredOf(fields: Fields, parent = ''): string[] {
  return Object.entries(fields)
    .filter(([, field]: [string, Field]) => field.marks.required && !field.marks.readOnly)
    .flatMap(([name, field]) =>
      field.is === 'group' ? requiredOf(field.fields, `${parent}${name}.`) : [`${parent}${name}`],
    )
}
