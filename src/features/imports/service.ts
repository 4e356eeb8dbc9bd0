import type { Versioned } from '../../events/change.ts'
import { may, requireScopes } from '../../kernel/authorize.ts'
import { type Tx, transaction } from '../../kernel/context.ts'
import { undefused } from '../../kernel/csv.ts'
import { conflict, invalid, invalidField, notFound } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { mappingProblems, planColumns, settable } from './columns.ts'
import { CsvReader, separatorOf } from './csv-reader.ts'
import type { ReceivedFile } from './files.ts'
import { findImport, finishImport, insertImport, listImports, type Work } from './queries.ts'
import type { DuplicateRule, Import, importFormats } from './schema.ts'
import type { ImportResource, Target } from './target.ts'
import { targetOf, targets } from './targets.ts'
import { xmlColumns } from './xml-record.ts'

export interface ImportOrder {
  resource: ImportResource
  format: (typeof importFormats)[number]
  dryRun: boolean
  onDuplicate: DuplicateRule
  mapping: Record<string, string | null>
}

/** Takes a file in. What can be told from its first line is told at once; the rows are left to the worker. */
export async function startImport(
  tx: Tx,
  order: ImportOrder,
  file: ReceivedFile,
): Promise<Versioned<Import>> {
  const target = targetOf(order.resource)
  const begin = order.format === 'csv' ? beginCsv(target, order, file) : beginXml(target, order, file)
  const record: Import = {
    id: file.id,
    resource: order.resource,
    format: order.format,
    status: 'queued',
    dry_run: order.dryRun,
    on_duplicate: order.onDuplicate,
    total: order.format === 'csv' ? Math.max(0, file.lines - 1) : null,
    processed: 0,
    created: 0,
    updated: 0,
    skipped: 0,
    failed: 0,
    columns: begin.columns,
    ignored_columns: begin.ignored,
    failure: null,
    created_at: tx.now.toISOString(),
    finished_at: null,
  }
  await insertImport(tx, record, { ...begin.work, principal: tx.viewer, isUtf8: file.isUtf8 })
  return { record, version: 1 }
}

interface Beginning {
  columns: string[]
  ignored: string[]
  work: Omit<Work, 'principal' | 'isUtf8'>
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

function beginCsv(target: Target, order: ImportOrder, { head, size, lines }: ReceivedFile): Beginning {
  if (size === 0 || lines === 0) throw invalidField('file', 'is empty.')
  const isUtf16 = /^(\xff\xfe|\xfe\xff)/.test(head.toString('latin1', 0, 2))
  if (isUtf16) throw notUtf8()
  const from = { offset: head.indexOf(byteOrderMark) === 0 ? 3 : 0, line: 1 }
  const text = head.subarray(from.offset)
  const separator = separatorOf(text.toString('utf8'))
  const reader = new CsvReader(separator, from)
  const isWhole = head.length === size
  const [first] = [...reader.push(text), ...(isWhole ? reader.end() : [])]
  // UTF-16 without a mark. A NUL further down is the problem of its row.
  if (first?.cells.some((cell) => cell?.includes('\0'))) throw notUtf8()
  if (!first && isWhole) throw invalidField('file', 'is empty.')
  if (!first || first.broken)
    throw invalidField(
      'file',
      `has no header that can be read: its first line ${first?.broken ?? 'is too long.'}`,
    )
  const columns = first.cells.map((cell) => undefused(cell ?? '').trim())
  const plan = planColumns(target, columns, order.mapping, order.onDuplicate !== 'update')
  if (plan.problems.length > 0) throw invalid(plan.problems)
  return { columns, ignored: plan.ignored, work: { fields: plan.fields, separator, next: first.end } }
}

const notUtf8 = () => invalidField('file', 'is not UTF-8 text; save it as CSV in UTF-8.')

function beginXml(target: Target, { mapping }: ImportOrder, { size }: ReceivedFile): Beginning {
  if (size === 0) throw invalidField('file', 'is empty.')
  const problems = mappingProblems(settable(target), mapping)
  if (problems.length > 0) throw invalid(problems)
  const { columns, fields, ignored } = xmlColumns(target, mapping)
  return { columns, ignored, work: { fields, separator: '', next: { offset: 0, line: 1 } } }
}

/** The kinds of import that the caller may know of: those that they could make themselves. */
export function visibleKinds({ viewer }: Tx): ImportResource[] {
  const all = Object.entries(targets) as [ImportResource, Target][]
  return all.filter(([, { scope }]) => may(viewer, scope)).map(([resource]) => resource)
}

export const importsFor = (tx: Tx, query: ListQuery): Promise<Page<Import>> =>
  listImports(tx, query, visibleKinds(tx))

export async function getImport(tx: Tx, id: string, lock = false): Promise<Versioned<Import>> {
  const found = isId('imp', id) ? await findImport(tx, id, lock) : undefined
  if (!found) throw notFound('import')
  requireScopes(tx.viewer, [targetOf(found.record.resource).scope])
  return found
}

/** Stops an import between two batches. What it has written stays; a revert takes it back. */
export function cancelImport(tx: Tx, id: string): Promise<Versioned<Import>> {
  return transaction(tx, async (tx) => {
    // The lock waits for the batch that is under way.
    const { record } = await getImport(tx, id, true)
    if (record.status !== 'queued' && record.status !== 'running') {
      throw conflict(`An import that is ${record.status} cannot be cancelled.`)
    }
    await finishImport(tx, id, 'cancelled')
    return getImport(tx, id)
  })
}
