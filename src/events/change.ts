import { type Tx, transaction } from '../kernel/context.ts'
import { invalid, notFound } from '../kernel/errors.ts'
import { requireVersion } from '../kernel/etag.ts'
import type { Defaults, Fields } from '../kernel/fields.ts'
import type { RecordOf, Resource, UpdateOf } from '../kernel/resource.ts'
import { raw } from '../kernel/sql.ts'
import type { Event } from './catalog.ts'
import { writeWithEvents } from './record.ts'

/** A record with the version its row has. */
export interface Versioned<R> {
  record: R
  version: number
}

type AnyResource = Pick<Resource<Fields>, 'table' | 'name' | 'toRow' | 'merge' | 'stored'>

export async function createRecord(
  tx: Tx,
  resource: AnyResource,
  record: object,
  events: Event[],
): Promise<void> {
  const row = { workspace_id: tx.workspaceId, ...resource.toRow(record as never) }
  await writeWithEvents(
    tx,
    tx.sql`insert into ${raw(tx.sql, resource.table)} ${tx.sql(row as never)} returning 1`,
    events,
  )
}

export interface UpdateRequest<Res extends AnyResource, R = RecordOf<Res>> {
  resource: Res
  /** Reads the record as everybody would see it; with `lock`, until the transaction ends nobody else changes it. */
  find(tx: Tx, lock: boolean): Promise<Versioned<R> | undefined>
  patch: UpdateOf<Res>
  ifMatch: string | undefined
  defaults: Defaults
  events(after: R, previous: Partial<R>): Event[]
  /** What the service itself sets whenever something changed. */
  settle?(after: R, previous: Partial<R>): R
}

// Two callers rarely change one record at the same moment, so the row is not locked at first: that saves
// two round trips. A record that many fight over is locked after a few tries, or somebody might never win.
const optimisticTries = 3

/**
 * Changes the fields sent and leaves the rest, whatever others change meanwhile. Nothing is written,
 * and no event recorded, when the values are the same as before.
 */
export async function updateRecord<Res extends AnyResource>(
  tx: Tx,
  request: UpdateRequest<Res>,
): Promise<Versioned<RecordOf<Res>>> {
  for (let tried = 0; tried < optimisticTries; tried++) {
    const updated = await tryUpdate(tx, request, false)
    if (updated) return updated
  }
  const updated = await transaction(tx, (locked) => tryUpdate(locked, request, true))
  return updated!
}

async function tryUpdate<Res extends AnyResource>(
  tx: Tx,
  request: UpdateRequest<Res>,
  lock: boolean,
): Promise<Versioned<RecordOf<Res>> | undefined> {
  const { resource } = request
  const found = await request.find(tx, lock)
  if (!found) throw notFound(resource.name)
  requireVersion(request.ifMatch, found.version)

  const {
    after: merged,
    previous,
    problems,
  } = resource.merge(found.record as never, request.patch as never, request.defaults)
  if (problems.length > 0) throw invalid(problems)
  if (Object.keys(previous).length === 0) return found

  const changed = { ...merged, updated_at: tx.now.toISOString() } as unknown as RecordOf<Res>
  const after = request.settle?.(changed, previous as never) ?? changed
  const rows = await writeWithEvents(
    tx,
    updateRow(tx, resource, found.record as object, after as object, found.version),
    request.events(after, previous as never),
  )
  return rows.length > 0 ? { record: after, version: found.version + 1 } : undefined
}

function updateRow(tx: Tx, resource: AnyResource, before: object, after: object, version: number) {
  const { sql, workspaceId } = tx
  const old = resource.toRow(before as never)
  const row = Object.entries(resource.toRow(after as never)).filter(
    ([name, value]) => value !== old[name] && JSON.stringify(value) !== JSON.stringify(old[name]),
  )
  return sql`
    update ${raw(sql, resource.table)} set ${sql({ ...Object.fromEntries(row), version: version + 1 } as never)}
    where workspace_id = ${workspaceId} and id = ${(after as { id: string }).id} and version = ${version}
    returning 1`
}
