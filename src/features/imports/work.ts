import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Clock } from '../../kernel/clock.ts'
import { type Context, inTransaction, type Principal, type Secrets, type Urls } from '../../kernel/context.ts'
import type { Courier } from '../../kernel/courier.ts'
import { type Pool, raw } from '../../kernel/sql.ts'
import { Totals } from '../../kernel/totals.ts'
import { applyRows, type Job } from './apply.ts'
import { CsvReader } from './csv-reader.ts'
import { readFile } from './files.ts'
import {
  findImport,
  finishImport,
  insertAliases,
  insertRecords,
  insertRejects,
  noteProgress,
  type Work,
} from './queries.ts'
import { type Row, type RowReader, UnreadableFile } from './rows.ts'
import type { Import } from './schema.ts'
import { targetOf } from './targets.ts'
import { type Plan, sortProblems, taskReader } from './task.ts'
import { XmlReader } from './xml-reader.ts'
import { xmlShape } from './xml-record.ts'

/*
 * Works imports off in batches. The rows of a batch, their events, the rows that were refused and the
 * place to go on from commit together: a process that is killed loses nothing and does nothing twice.
 */

export interface ImportWorkerDeps {
  sql: Pool
  clock: Clock
  log: Logger
  secrets: Secrets
  urls: Urls
  courier: Courier
}

// A batch is worked on in one go: larger ones were no faster, and made requests to the same process wait.
const rowsAtOnce = 200
// Every batch renews it. After a crash somebody else takes over when it has run out.
const leaseMs = 10_000
// Imports take turns, so that a long one does not hold up the others.
const sliceMs = 1_000
const roundMs = 3_000
const mostAttempts = 5

/** Works on whatever waits, for a few seconds at most. */
export async function runImports(deps: ImportWorkerDeps): Promise<void> {
  const until = performance.now() + roundMs
  while (performance.now() < until) {
    const claimed = await claim(deps)
    if (!claimed) return
    await workOn(deps, claimed)
  }
}

interface Claim extends Work {
  workspaceId: string
  importId: string
  lease: string
  attempts: number
}

async function claim({ sql, clock }: ImportWorkerDeps): Promise<Claim | undefined> {
  const now = clock.now()
  const lease = randomUUID()
  const [row] = await sql`
    update import_work set lease = ${lease}, leased_until = ${new Date(now.getTime() + leaseMs)},
      attempts = attempts + 1
    where (workspace_id, import_id) in (
      select workspace_id, import_id from import_work where leased_until is null or leased_until <= ${now}
      order by leased_until nulls first, import_id limit 1 for update skip locked)
    returning *`
  if (!row) return undefined
  const { scopes, granted } = row.principal
  const principal = { ...row.principal, scopes: new Set(scopes), granted: new Set(granted) } as Principal
  return {
    workspaceId: row.workspace_id,
    importId: row.import_id,
    lease,
    attempts: row.attempts,
    principal,
    // The driver reads a null inside an array as this text, which is the name of no field.
    fields: row.fields.map((field: string) => (field === 'NULL' ? null : field)),
    separator: row.separator,
    isUtf8: row.is_utf8,
    next: { offset: row.next_offset, line: row.next_line },
  }
}

async function workOn(deps: ImportWorkerDeps, work: Claim): Promise<void> {
  const ctx = contextOf(deps, work)
  if (work.attempts > mostAttempts)
    return fail(ctx, work, 'Something broke on our side; what was not processed can be sent again.')
  try {
    const isDone = await workFor(sliceMs, deps, ctx, work)
    if (!isDone) await release(deps, work)
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    await fail(ctx, work, error.message)
  }
}

/** False when the time was over first. */
async function workFor(ms: number, deps: ImportWorkerDeps, ctx: Context, work: Claim): Promise<boolean> {
  const { record } = (await inTransaction(ctx, (tx) => findImport(tx, work.importId)))!
  const until = performance.now() + ms
  let { processed } = record
  for await (const { rows, isLast } of batchesOf(deps, work, record)) {
    const goesOn = await workBatch(deps, ctx, work, record, rows, processed, isLast)
    if (!goesOn || isLast) return true
    if (!record.dry_run) await keepStatistics(deps, record, processed, processed + rows.length)
    processed += rows.length
    if (performance.now() > until) return false
  }
  return true
}

/*
 * PostgreSQL chooses its indexes by what it knows of a table, and of one that was empty a moment ago it
 * knows nothing: the check of a reference then read all rows of the workspace, and each batch took
 * longer than the one before (156 ms, then 1,243 ms after ten). It finds out by itself only a minute later.
 */
const statisticsAt = [400, 4_000, 40_000]

async function keepStatistics(
  { sql }: ImportWorkerDeps,
  { resource }: Import,
  before: number,
  after: number,
): Promise<void> {
  if (!statisticsAt.some((rows) => before < rows && after >= rows)) return
  await sql`analyze ${raw(sql, targetOf(resource).resource.table)}`
}

/** False when the import was cancelled, or taken over by somebody else. */
function workBatch(
  deps: ImportWorkerDeps,
  ctx: Context,
  work: Claim,
  record: Import,
  rows: Row[],
  processed: number,
  isLast: boolean,
): Promise<boolean> {
  return inTransaction(ctx, async (tx) => {
    if (!isUnderWay(await findImport(tx, work.importId, true))) return false
    const plan: Plan = {
      target: targetOf(record.resource),
      columns: record.columns,
      fields: work.fields,
      isDefused: record.format === 'csv',
      isUtf8: work.isUtf8,
      now: tx.now,
    }
    const job: Job = {
      plan,
      importId: work.importId,
      onDuplicate: record.on_duplicate,
      dryRun: record.dry_run,
      urls: deps.urls,
    }
    const read = taskReader(plan)
    const tasks = rows.map((row, at) => read(row, processed + at + 1))
    const results = await applyRows(tx, job, tasks)
    const progress = {
      importId: work.importId,
      lease: work.lease,
      next: rows.at(-1)?.end ?? work.next,
      leasedUntil: new Date(deps.clock.now().getTime() + leaseMs),
    }
    if (!(await noteProgress(tx, progress, results))) throw new LostLease()
    for (const task of tasks) sortProblems(plan, task)
    const kept = record.dry_run ? [] : [...results]
    await Promise.all([
      insertRejects(
        tx,
        work.importId,
        tasks.filter((task) => results.get(task)!.is === 'failed'),
      ),
      insertRecords(
        tx,
        work.importId,
        kept.flatMap(([{ row }, result]) => {
          if (result.is !== 'created' && result.is !== 'updated') return []
          const previous = result.is === 'updated' ? result.previous : null
          return [{ row, record_id: result.id, version: result.version, previous }]
        }),
      ),
      insertAliases(
        tx,
        record.resource,
        kept.flatMap(([{ restored }, result]) =>
          'id' in result && result.id && restored.id && restored.id !== result.id
            ? [{ alias: restored.id, id: result.id }]
            : [],
        ),
      ),
    ])
    if (isLast) await finishImport(tx, work.importId, 'completed')
    return true
  }).catch((error: unknown) => {
    if (error instanceof LostLease) return false
    throw error
  })
}

class LostLease extends Error {}

/** Rows in batches. The last one may be empty, and says that it is the last. */
async function* batchesOf(
  { sql }: ImportWorkerDeps,
  work: Claim,
  record: Import,
): AsyncGenerator<{ rows: Row[]; isLast: boolean }> {
  const reader = readerOf(record, work)
  let waiting: Row[] = []
  for await (const bytes of readFile(sql, work.workspaceId, work.importId, work.next.offset)) {
    waiting = waiting.concat(reader.push(bytes))
    while (waiting.length > rowsAtOnce) {
      yield { rows: waiting.slice(0, rowsAtOnce), isLast: false }
      waiting = waiting.slice(rowsAtOnce)
    }
    // What stands before the fault goes in.
    if (reader.fault && waiting.length > 0) yield { rows: waiting, isLast: false }
    if (reader.fault) throw reader.fault
  }
  waiting = waiting.concat(reader.end())
  if (reader.fault && waiting.length > 0) yield { rows: waiting, isLast: false }
  if (reader.fault) throw reader.fault
  for (let from = 0; ; from += rowsAtOnce) {
    const isLast = from + rowsAtOnce >= waiting.length
    yield { rows: waiting.slice(from, from + rowsAtOnce), isLast }
    if (isLast) return
  }
}

const readerOf = ({ format, resource, columns }: Import, { separator, fields, next }: Work): RowReader =>
  format === 'csv'
    ? new CsvReader(separator, next)
    : new XmlReader(xmlShape(targetOf(resource), columns, fields), next)

const contextOf = (deps: ImportWorkerDeps, work: Claim): Context => ({
  ...deps,
  requestId: work.importId,
  principal: work.principal,
  environment: work.principal.workspace.environment,
  totals: new Totals(() => {}),
})

const isUnderWay = (found: { record: Import } | undefined): boolean =>
  found?.record.status === 'queued' || found?.record.status === 'running'

// Whoever cancelled it meanwhile was told so.
const fail = (ctx: Context, { importId }: Claim, failure: string): Promise<void> =>
  inTransaction(ctx, async (tx) => {
    if (isUnderWay(await findImport(tx, importId, true))) await finishImport(tx, importId, 'failed', failure)
  })

/** Lets others go on with it, after those that have waited longer. */
async function release(
  { sql, clock }: ImportWorkerDeps,
  { workspaceId, importId, lease }: Claim,
): Promise<void> {
  await sql`
    update import_work set lease = null, leased_until = ${clock.now()}
    where workspace_id = ${workspaceId} and import_id = ${importId} and lease = ${lease}`
}
