import type { Batch } from '../../events/batch.ts'
import type { Versioned } from '../../events/change.ts'
import type { Tx, Urls } from '../../kernel/context.ts'
import type { Problem } from '../../kernel/errors.ts'
import type { Column, Resource } from '../../kernel/resource.ts'
import type { Scope } from '../../kernel/scopes.ts'
import type { Fragment } from '../../kernel/sql.ts'
import type { DuplicateRule, importResources } from './schema.ts'

type Named = { id: string }

/** A kind of record that can be imported. */
export interface Target {
  resource: Pick<
    Resource,
    | 'name'
    | 'plural'
    | 'prefix'
    | 'table'
    | 'fields'
    | 'columns'
    | 'schema'
    | 'toRow'
    | 'fromRow'
    | 'selectList'
    | 'example'
  >
  scope: Scope
  onDuplicate: DuplicateRule
  /** Fields that only the service sets otherwise, kept as the file has them. */
  restores: string[]
  /** Columns of a file that are no fields of the resource; read into `restored`. */
  extras?: Column[]
  /** Besides id and external id, what tells that a row is about a record which is there already. */
  sameWhen?: {
    fields: string[]
    anyCase?: boolean
    /** Even where their ids differ: whoever moves in is a member already, under the id they have here. */
    whateverId?: boolean
  }
  /** Fields that name other records, and what kind of record. */
  references: Record<string, ReferredKind[]>
  /** Where the name stands in the items of such a field, when it is not all of them. */
  nameWithin?: Record<string, RegExp>
  /** Which records the importer may see; all where left out. */
  visible?(tx: Tx): Fragment | undefined
  /** The whole record of a row, not yet written. `restored` holds what the row says of `restores`. */
  complete(tx: Tx, body: object, restored: Restored): { record: Named; problems: Problem[] }
  batch: Batch<never>
  /** After records were written, in the same transaction. */
  afterCreate?(tx: Tx, records: Named[], urls: Urls): Promise<void>
  update(tx: Tx, id: string, patch: object, urls: Urls): Promise<Versioned<Named>>
  /** What a row changes of a record besides what a PUT could. */
  changesToo?(restored: Restored, before: Record<string, unknown>): object
  /** Fields that the service changes along with another. */
  follow?: Record<string, string[]>
  /** Gives a record its old values again; an update unless there is more to it. */
  restore?(tx: Tx, id: string, previous: Record<string, unknown>): Promise<void>
  /** Why what was done to some of these records cannot be undone. */
  undoingFails?(tx: Tx, changed: Changed[], during: { from: string; to: string }): Promise<string | undefined>
  /** Which of these records others have come to depend on: they cannot be taken back. */
  inUse(tx: Tx, ids: string[]): Promise<string[]>
}

/** A record that an import has changed, with the values it had. */
export interface Changed {
  id: string
  previous: Record<string, unknown>
}

export type Restored = Record<string, unknown> & { id?: string }

export type ImportResource = (typeof importResources)[number]

/** How a kind of record can be named in a file, besides by id and external id. */
export interface ReferredKind {
  resource: ImportResource
  table: string
  /** A column with a name that people know. */
  alsoBy?: string
  hasExternalId?: boolean
}

export const propertyKind: ReferredKind = { resource: 'properties', table: 'properties', hasExternalId: true }
export const unitKind: ReferredKind = { resource: 'units', table: 'units', hasExternalId: true }
export const agentKind: ReferredKind = {
  resource: 'agents',
  table: 'agents',
  hasExternalId: true,
  alsoBy: 'email',
}
export const teamKind: ReferredKind = { resource: 'teams', table: 'teams', alsoBy: 'name' }
export const leadKind: ReferredKind = { resource: 'leads', table: 'leads', hasExternalId: true }
