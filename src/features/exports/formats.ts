import { cellWriter, csvLine } from '../../kernel/csv.ts'
import type { Column, Resource } from '../../kernel/resource.ts'

export const formats = ['csv', 'json', 'ndjson'] as const
export type Format = (typeof formats)[number]

type Row = Record<string, unknown>

/** How rows of a list become a file. */
export interface FileFormat {
  type: string
  before: string
  after: string
  write(rows: Row[], isFirst: boolean): string
}

export type Exportable = Pick<Resource, 'columns' | 'fromRow'>

/** `fields` names the top-level fields to write; all of them where left out. */
export function fileFormat(
  format: Format,
  resource: Exportable,
  fields: string[] | undefined,
  extras: readonly Column[] = [],
): FileFormat {
  const kept = fields && new Set(['id', ...fields])
  if (format === 'csv') {
    return csvFormat([...resource.columns.filter(({ path }) => kept?.has(path[0]!) ?? true), ...extras])
  }
  const json = (row: Row) => {
    const record = resource.fromRow(row)
    const shown: object = kept ? pick(record, kept) : record
    const more = extras.map(({ name }) => [name, row[name]])
    return JSON.stringify(extras.length > 0 ? { ...shown, ...Object.fromEntries(more) } : shown)
  }
  if (format === 'ndjson') {
    const write = (rows: Row[]) => rows.map((row) => `${json(row)}\n`).join('')
    return { type: 'application/x-ndjson; charset=utf-8', before: '', after: '', write }
  }
  return {
    type: 'application/json; charset=utf-8',
    before: '{"success":true,"data":[',
    after: ']}\n',
    write: (rows, isFirst) => (isFirst ? '' : ',') + rows.map(json).join(','),
  }
}

const pick = (record: object, kept: Set<string>) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => kept.has(name)))

/** A column per leaf of the resource, named as in JSON with dots. */
function csvFormat(columns: readonly Column[]): FileFormat {
  const writers = columns.map(({ name, leaf }) => ({ name, write: cellWriter(leaf) }))
  return {
    type: 'text/csv; charset=utf-8; header=present',
    before: csvLine(columns.map(({ path }) => path.join('.'))),
    after: '',
    write: (rows) => {
      let text = ''
      for (const row of rows) text += csvLine(writers.map(({ name, write }) => write(row[name])))
      return text
    },
  }
}
