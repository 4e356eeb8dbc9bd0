import { createMany } from '../../events/batch.ts'
import type { Tx, Urls } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { raw, type Transaction } from '../../kernel/sql.ts'
import { problemsOf } from '../../kernel/validate.ts'
import { explained } from '../../kernel/violations.ts'
import { rememberCreated, rememberIds, takenBefore } from './keys.ts'
import { findMatches, type Match, waves } from './match.ts'
import { resolveReferences } from './references.ts'
import type { DuplicateRule } from './schema.ts'
import type { Target } from './target.ts'
import { columnOf, type Plan, type Task } from './task.ts'

/** What became of a row. */
export type Result =
  | { is: 'created'; id: string; version: number }
  | { is: 'updated'; id: string; version: number; previous: object }
  | { is: 'skipped'; id: string | undefined }
  | { is: 'failed' }

export interface Job {
  plan: Plan
  importId: string
  onDuplicate: DuplicateRule
  dryRun: boolean
  urls: Urls
}

/**
 * Brings rows into the workspace, in the transaction given. Each stands alone: a wrong one keeps no other
 * out. A dry run does all of it too and takes it back, or it would not know what the run will say.
 */
export async function applyRows(tx: Tx, job: Job, tasks: Task[]): Promise<Map<Task, Result>> {
  if (!job.dryRun) return bringIn(tx, job, tasks)
  const results = await takenBack(tx, (tx) => bringIn(tx, job, tasks))
  const created = tasks.filter((task) => results.get(task)!.is === 'created')
  await rememberCreated(tx, job.plan.target, job.importId, created)
  return results
}

class TakenBack extends Error {}

async function takenBack<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  let result: T
  try {
    await (tx.sql as Transaction).savepoint(async (sql) => {
      result = await work({ ...tx, sql })
      throw new TakenBack()
    })
  } catch (error) {
    if (!(error instanceof TakenBack)) throw error
  }
  return result!
}

async function bringIn(tx: Tx, job: Job, tasks: Task[]): Promise<Map<Task, Result>> {
  const results = new Map<Task, Result>()
  await resolveReferences(tx, job.plan, tasks.filter(isSound))
  for (const wave of waves(job.plan.target, tasks.filter(isSound))) await applyWave(tx, job, wave, results)
  for (const task of tasks) if (!isSound(task)) results.set(task, { is: 'failed' })
  return results
}

const isSound = ({ problems }: Task) => problems.length === 0

async function applyWave(tx: Tx, job: Job, tasks: Task[], results: Map<Task, Result>): Promise<void> {
  const { plan, onDuplicate, dryRun, importId } = job
  const matches = await findMatches(tx, plan.target, tasks, importId, dryRun)
  const creating: Task[] = []
  const updating: { task: Task; id: string }[] = []
  for (const task of tasks) {
    const match = matches.get(task)
    if (onDuplicate === 'create' || !match) {
      // A copy of a record that is there gets an id of its own.
      if (match && isOwnId(match, task)) delete task.restored.id
      creating.push(task)
    } else if (onDuplicate === 'skip') {
      results.set(task, { is: 'skipped', id: typeof match === 'object' ? match.id : undefined })
    } else if (match === 'earlier row') {
      complain(plan, task, problemsOf(plan.target.resource.schema.update, patchOf(plan.target, task)))
      results.set(task, { is: 'updated', id: '', version: 0, previous: {} })
    } else if (match === 'several') {
      const message = 'is like several records; give an id or external_id to say which.'
      task.problems.push({ column: null, message })
    } else updating.push({ task, id: match.id })
  }
  await createAll(tx, job, creating, results)
  if (onDuplicate !== 'create') await rememberIds(tx, plan.target, importId, creating.filter(isSound))
  if (updating.length > 0) await updateAll(tx, job, updating, results)
}

const isOwnId = (match: Match, { restored }: Task) => typeof match === 'object' && match.id === restored.id

async function createAll(tx: Tx, job: Job, tasks: Task[], results: Map<Task, Result>): Promise<void> {
  const { target } = job.plan
  const ready: { task: Task; record: { id: string } }[] = []
  const taken = job.dryRun ? await takenBefore(tx, target, job.importId, tasks) : () => []
  for (const task of tasks) {
    const problems = [...problemsOf(target.resource.schema.create, task.body), ...taken(task)]
    const whole = problems.length === 0 ? target.complete(tx, task.body, task.restored) : undefined
    if (whole && whole.problems.length === 0) ready.push({ task, record: whole.record })
    else complain(job.plan, task, [...problems, ...(whole?.problems ?? [])])
  }
  const records = ready.map(({ record }) => record) as never[]
  const errors = await createMany(tx, target.batch, records)
  const written = ready.filter(({ task, record }, at) => {
    const error = errors[at]
    if (error) complain(job.plan, task, error.details ?? [{ field: 'row', message: error.message }])
    else results.set(task, { is: 'created', id: record.id, version: 1 })
    return !error
  })
  if (written.length > 0)
    await target.afterCreate?.(
      tx,
      written.map(({ record }) => record),
      job.urls,
    )
}

// One by one, each as if it had come as a PUT: what follows from a change is the service's business.
async function updateAll(
  tx: Tx,
  job: Job,
  updates: { task: Task; id: string }[],
  results: Map<Task, Result>,
): Promise<void> {
  const { target } = job.plan
  const before = await recordsBefore(
    tx,
    job,
    updates.map(({ id }) => id),
  )
  for (const { task, id } of updates) {
    const old = before.get(id)!
    const patch = patchOf(target, task)
    const problems = problemsOf(target.resource.schema.update, patch)
    if (problems.length > 0) {
      complain(job.plan, task, problems)
      continue
    }
    const too = target.changesToo?.(task.restored, old.record) ?? {}
    try {
      const { version } = await (tx.sql as Transaction).savepoint((sql) =>
        target.update({ ...tx, sql }, id, { ...patch, ...too }, job.urls),
      )
      const names = Object.keys(patch).flatMap((name) => [name, ...(target.follow?.[name] ?? [])])
      const kept = new Set([...names, ...Object.keys(too)])
      const previous = Object.fromEntries([...kept].map((name) => [name, old.record[name]]))
      const isChanged = version !== old.version
      results.set(task, isChanged ? { is: 'updated', id, version, previous } : { is: 'skipped', id })
    } catch (error) {
      const known = explained(error)
      if (!(known instanceof ApiError) || known.status >= 500) throw error
      complain(job.plan, task, known.details ?? [{ field: 'row', message: known.message }])
    }
  }
}

/** What a PUT could change too; an id or a time of creation stays as it is. */
function patchOf({ resource }: Target, { body, restored }: Task): object {
  const changeable = Object.entries(restored).filter(([name]) => {
    const field = resource.fields[name]
    return field !== undefined && !field.marks.readOnly
  })
  return { ...body, ...Object.fromEntries(changeable) }
}

type Before = { record: Record<string, unknown>; version: number }

async function recordsBefore(
  { sql, workspaceId }: Tx,
  { plan }: Job,
  ids: string[],
): Promise<Map<string, Before>> {
  const { resource } = plan.target
  const rows = await sql`
    select ${raw(sql, resource.selectList)}, version from ${raw(sql, resource.table)}
    where workspace_id = ${workspaceId} and id = any(${ids}) for update`
  return new Map(
    rows.map((row) => [row.id, { record: resource.fromRow(row) as never, version: row.version }]),
  )
}

function complain(plan: Plan, task: Task, problems: { field: string; message: string }[]): void {
  for (const { field, message } of problems) {
    task.problems.push({ column: field === 'row' ? null : columnOf(plan, field), message })
  }
}
