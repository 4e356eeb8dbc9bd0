import { writeWithEvents } from '../../events/record.ts'
import type { Outcome } from '../../kernel/bulk.ts'
import { type Tx, transaction } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { findUnits } from './queries.ts'
import type { Unit } from './schema.ts'
import { unitChangeEvents } from './service.ts'

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
