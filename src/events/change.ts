import { type Tx, transaction } from '../kernel/context.ts'
import { invalid, notFound } from '../kernel/errors.ts'
import { requireVersion } from '../kernel/etag.ts'
import type { Defaults, Fields } from '../kernel/fields.ts'
import type { RecordOf, Resource, UpdateOf } from '../kernel/resource.ts'
import { type Fragment, nothing, raw } from '../kernel/sql.ts'
import type { Event } from './catalog.ts'
import { insertRows, type Rows, rowsOf, writeWithEvents } from './record.ts'

/** A record with the version its row has. */
export interface Versioned<R> {
  record: R
  version: number
}

type AnyResource = Pick<
  Resource<Fields>,
  'table' | 'name' | 'toRow' | 'merge' | 'stored' | 'fields' | 'changed'
>

/** What is written in the same statement as a change, and what has to be true for it. */
interface Accompaniment {
  along?: Rows[]
  /** Values of columns that the resource does not show. */
  hidden?: Record<string, unknown>
  /** Nothing is written unless this holds. */
  provided?: Fragment
}

/** False when `provided` did not hold. */
export async function createRecord(
  tx: Tx,
  resource: Pick<AnyResource, 'table' | 'toRow'>,
  record: object,
  events: Event[],
  { along = [], hidden = {}, provided }: Accompaniment = {},
): Promise<boolean> {
  const { sql } = tx
  const insert = insertRows(
    tx,
    rowsOf(resource, [record], hidden),
    provided ? sql`where ${provided}` : nothing(sql),
  )
  const rows = await writeWithEvents(tx, sql`${insert} returning 1`, events, along)
  return rows.length > 0
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
  accompany?(after: R, previous: Partial<R>): Accompaniment
  /** Called when nothing was written: throws if `provided` is the reason, and not somebody else's change. */
  explain?(tx: Tx, after: R, previous: Partial<R>): Promise<void>
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

  const merged = resource.merge(found.record as never, request.patch as never, request.defaults)
  if (merged.problems.length > 0) throw invalid(merged.problems)
  if (Object.keys(merged.previous).length === 0) return found

  const settled = request.settle?.(merged.after as never, merged.previous as never) ?? merged.after
  const previous = resource.changed(found.record as never, settled as never) as Partial<RecordOf<Res>>
  const written = await changeRecord(tx, resource, found, settled as RecordOf<Res>, {
    events: (after) => request.events(after, previous),
    accompany: (after) => request.accompany?.(after, previous) ?? {},
  })
  if (!written) await request.explain?.(tx, settled as RecordOf<Res>, previous)
  return written
}

/**
 * Writes what differs between a record as it was read and as it should be. Undefined when it has
 * changed since it was read.
 */
export async function changeRecord<R extends object>(
  tx: Tx,
  resource: Pick<AnyResource, 'table' | 'toRow' | 'fields'>,
  before: Versioned<R>,
  after: R,
  options: { events?(after: R): Event[]; accompany?(after: R): Accompaniment } = {},
): Promise<Versioned<R> | undefined> {
  const { sql, workspaceId } = tx
  const stamped = 'updated_at' in resource.fields ? { ...after, updated_at: tx.now.toISOString() } : after
  const { along = [], hidden = {}, provided } = options.accompany?.(stamped) ?? {}
  const old = resource.toRow(before.record as never)
  const row = Object.entries(resource.toRow(stamped as never)).filter(
    ([name, value]) => value !== old[name] && JSON.stringify(value) !== JSON.stringify(old[name]),
  )
  const set = { ...Object.fromEntries(row), ...hidden, version: before.version + 1 }
  const change = sql`
    update ${raw(sql, resource.table)} set ${sql(set as never)}
    where workspace_id = ${workspaceId} and id = ${(after as { id?: string }).id!} and version = ${before.version}
    ${provided ? sql`and ${provided}` : nothing(sql)}
    returning 1`
  const rows = await writeWithEvents(tx, change, options.events?.(stamped) ?? [], along)
  return rows.length > 0 ? { record: stamped, version: before.version + 1 } : undefined
}
