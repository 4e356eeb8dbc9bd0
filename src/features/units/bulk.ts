import { createMany } from '../../events/batch.ts'
import { writeWithEvents } from '../../events/record.ts'
import type { Outcome } from '../../kernel/bulk.ts'
import { type Tx, transaction } from '../../kernel/context.ts'
import { ApiError, invalid } from '../../kernel/errors.ts'
import { problemsOf } from '../../kernel/validate.ts'
import { findUnits } from './queries.ts'
import { Unit, type UnitCreate } from './schema.ts'
import { newUnit, unitBatch, unitChangeEvents } from './service.ts'

/** Creates what can be created. Each item is checked as if it had come alone. */
export async function createUnits(tx: Tx, items: unknown[]): Promise<Outcome<Unit>[]> {
  const checked = items.map((item) => readItem(tx, item))
  const records = checked.flatMap((outcome) => ('record' in outcome ? [outcome.record] : []))
  const errors = await createMany(tx, unitBatch, records)
  const errorOf = new Map(records.map((record, index) => [record, errors[index]]))
  return checked.map((outcome) => {
    const error = 'record' in outcome ? errorOf.get(outcome.record) : undefined
    return error ? { error } : outcome
  })
}

function readItem(tx: Tx, item: unknown): Outcome<Unit> {
  const isObject = typeof item === 'object' && item !== null && !Array.isArray(item)
  const body = isObject ? Unit.withoutReadOnly(item, 'create') : item
  const problems = problemsOf(Unit.schema.create, body)
  if (problems.length > 0) return { error: invalid(problems) }
  const { record, problems: broken } = newUnit(tx, body as UnitCreate)
  return broken.length > 0 ? { error: invalid(broken) } : { record }
}

/** Gives units one status: two statements, whatever their number. Units the caller may not see are not found. */
export function setStatusOfUnits(tx: Tx, ids: string[], status: Unit['status']): Promise<Outcome<Unit>[]> {
  return transaction(tx, async (tx) => {
    const found = new Map((await findUnits(tx, ids, { lock: true })).map((unit) => [unit.id, unit]))
    const changed = [...found.values()]
      .filter((unit) => unit.status !== status)
      .map((before) => ({ before, after: { ...before, status, updated_at: tx.now.toISOString() } }))
    if (changed.length > 0) {
      const events = changed.flatMap(({ before, after }) =>
        unitChangeEvents(after, { status: before.status }),
      )
      await writeWithEvents(
        tx,
        tx.sql`
          update units set status = ${status}, updated_at = ${tx.now}, version = version + 1
          where workspace_id = ${tx.workspaceId} and id = any(${changed.map(({ after }) => after.id)})
          returning 1`,
        events,
      )
      for (const { after } of changed) found.set(after.id, after)
    }
    return ids.map((id) => {
      const record = found.get(id)
      return record ? { record } : { error: noSuchUnit() }
    })
  })
}

const noSuchUnit = () => {
  const message = 'There is no unit with this id.'
  return new ApiError('NOT_FOUND', message, { details: [{ field: 'item', message }] })
}
