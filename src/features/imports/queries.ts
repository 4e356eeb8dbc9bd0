import type { Versioned } from '../../events/change.ts'
import type { Principal, Tx } from '../../kernel/context.ts'
import { anyOf, type Filters } from '../../kernel/filters.ts'
import { listPage, type Page } from '../../kernel/list.ts'
import type { ListQuery } from '../../kernel/list-query.ts'
import { raw } from '../../kernel/sql.ts'
import type { Result } from './apply.ts'
import type { Position } from './rows.ts'
import { Import, importResources, importStatuses, type RowProblem } from './schema.ts'
import type { ImportResource } from './target.ts'
import type { Task } from './task.ts'

export const importFilters: Filters = {
  resource: anyOf(Import.column('resource'), 'import_resource', importResources, 'Only imports of these.'),
  status: anyOf(Import.column('status'), 'import_status', importStatuses, 'Only imports with this status.'),
}

/** Imports of the kinds given. */
export const listImports = (tx: Tx, query: ListQuery, kinds: ImportResource[]): Promise<Page<Import>> =>
  listPage(
    tx,
    {
      resource: Import,
      filters: importFilters,
      select: raw(tx.sql, Import.selectList),
      where: [tx.sql`imports.resource = any(${kinds}::text[]::import_resource[])`],
      seenBy: kinds.join(),
      fromRow: Import.fromRow,
    },
    query,
  )

export async function findImport(tx: Tx, id: string, lock = false): Promise<Versioned<Import> | undefined> {
  const { sql, workspaceId } = tx
  const [row] = await sql`
    select ${raw(sql, Import.selectList)}, imports.version from imports
    where workspace_id = ${workspaceId} and id = ${id} ${lock ? sql`for update` : sql``}`
  return row && { record: Import.fromRow(row), version: row.version }
}

export interface Work {
  principal: Principal
  fields: (string | null)[]
  separator: string
  isUtf8: boolean
  next: Position
}

/** The import and what there is to do for it, together. */
export async function insertImport({ sql, workspaceId }: Tx, record: Import, work: Work): Promise<void> {
  const { scopes, granted } = work.principal
  const principal = JSON.stringify({ ...work.principal, scopes: [...scopes], granted: [...granted] })
  await sql`
    with import as (
      insert into imports ${sql({ workspace_id: workspaceId, ...Import.toRow(record) } as never)} returning 1)
    insert into import_work (workspace_id, import_id, principal, fields, separator, is_utf8, next_offset, next_line)
    select ${workspaceId}, ${record.id}, ${principal}::text::json, ${work.fields as string[]}::text[],
      ${work.separator}, ${work.isUtf8}, ${work.next.offset}, ${work.next.line} from import`
}

export interface Progress {
  importId: string
  lease: string
  next: Position
  leasedUntil: Date
}

/** Notes what became of rows. False when somebody else has taken over meanwhile. */
export async function noteProgress(
  tx: Tx,
  { importId, lease, next, leasedUntil }: Progress,
  results: Map<Task, Result>,
): Promise<boolean> {
  const { sql, workspaceId } = tx
  const all = [...results.values()]
  const count = (is: Result['is']) => all.filter((result) => result.is === is).length
  const [held] = await sql`
    update import_work set next_offset = ${next.offset}, next_line = ${next.line}, attempts = 0,
      leased_until = ${leasedUntil}
    where workspace_id = ${workspaceId} and import_id = ${importId} and lease = ${lease} returning 1`
  if (!held) return false
  await sql`
    update imports set status = 'running', processed = processed + ${all.length},
      created = created + ${count('created')}, updated = updated + ${count('updated')},
      skipped = skipped + ${count('skipped')}, failed = failed + ${count('failed')}, version = version + 1
    where workspace_id = ${workspaceId} and id = ${importId}`
  return true
}

export async function insertRejects(
  { sql, workspaceId }: Tx,
  importId: string,
  tasks: Task[],
): Promise<void> {
  if (tasks.length === 0) return
  const rows = tasks.map(({ row, line, cells, problems }) => ({ row, line, cells, problems }))
  await sql`
    insert into import_rejects (workspace_id, import_id, row, line, cells, problems)
    select ${workspaceId}, ${importId}, r.row, r.line, r.cells, r.problems
    from json_to_recordset(${storable(rows)}::text::json) as r (row int, line int, cells json, problems json)`
}

/** As JSON that PostgreSQL takes. Refused cells hold whatever stood in the file, also what no text can hold. */
const storable = (value: unknown): string =>
  JSON.stringify(value, (_name, part) =>
    typeof part === 'string' ? part.toWellFormed().replaceAll('\0', '\ufffd') : part,
  )

export interface ImportRecord {
  row: number
  record_id: string
  version: number
  previous: object | null
}

export async function insertRecords(
  { sql, workspaceId }: Tx,
  importId: string,
  records: ImportRecord[],
): Promise<void> {
  if (records.length === 0) return
  await sql`
    insert into import_records (workspace_id, import_id, row, record_id, version, previous)
    select ${workspaceId}, ${importId}, r.row, r.record_id, r.version, r.previous
    from json_to_recordset(${JSON.stringify(records)}::text::json)
      as r (row int, record_id text, version int, previous json)`
}

export async function insertAliases(
  { sql, workspaceId }: Tx,
  resource: ImportResource,
  aliases: { alias: string; id: string }[],
): Promise<void> {
  if (aliases.length === 0) return
  await sql`
    insert into import_aliases (workspace_id, resource, alias, record_id)
    select distinct on (a.alias) ${workspaceId}, ${resource}::import_resource, a.alias, a.id
    from json_to_recordset(${JSON.stringify(aliases)}::text::json) as a (alias text, id text)
    on conflict (workspace_id, resource, alias) do update set record_id = excluded.record_id`
}

/** The end of an import, whichever way. What it worked from goes away. */
export async function finishImport(
  { sql, workspaceId, now }: Pick<Tx, 'sql' | 'workspaceId' | 'now'>,
  id: string,
  status: 'completed' | 'failed' | 'cancelled',
  failure: string | null = null,
): Promise<void> {
  await sql`
    with finished as (
      update imports set status = ${status}, finished_at = ${now}, failure = ${failure}, version = version + 1,
        total = case when ${status} = 'completed' then processed else total end
      where workspace_id = ${workspaceId} and id = ${id} returning 1),
    done as (delete from import_work where workspace_id = ${workspaceId} and import_id = ${id}),
    keys as (delete from import_keys where workspace_id = ${workspaceId} and import_id = ${id})
    delete from import_files where workspace_id = ${workspaceId} and id = ${id}`
}

export interface Reject {
  row: number
  line: number
  cells: (string | null)[]
  problems: RowProblem[]
}

export async function rejectsOf(
  { sql, workspaceId }: Tx,
  importId: string,
  after: number,
  limit: number,
): Promise<Reject[]> {
  return sql<Reject[]>`
    select row, line, cells, problems from import_rejects
    where workspace_id = ${workspaceId} and import_id = ${importId} and row > ${after}
    order by row limit ${limit}`
}

export interface ImportError extends RowProblem {
  row: number
  line: number
}

/** One entry per problem, in the order of the file. */
export async function listErrors(
  { sql, workspaceId }: Tx,
  importId: string,
  query: { page: number; perPage: number },
): Promise<{ records: ImportError[]; total: number }> {
  const problems = sql`
    from import_rejects r, json_array_elements(r.problems) with ordinality as p (problem, nr)
    where r.workspace_id = ${workspaceId} and r.import_id = ${importId}`
  const [records, [count]] = await Promise.all([
    sql<ImportError[]>`
      select r.row, r.line, p.problem ->> 'column' as "column", p.problem ->> 'message' as message ${problems}
      order by r.row, p.nr limit ${query.perPage} offset ${(query.page - 1) * query.perPage}`,
    sql`select count(*)::int as total ${problems}`,
  ])
  return { records: [...records], total: count!.total }
}
