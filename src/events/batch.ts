import postgres from 'postgres'
import type { Outcome } from '../kernel/bulk.ts'
import { type Tx, transaction } from '../kernel/context.ts'
import { ApiError, conflict, invalid, type Problem } from '../kernel/errors.ts'
import { type Resource, valueAt } from '../kernel/resource.ts'
import { raw, type Transaction } from '../kernel/sql.ts'
import { problemsOf } from '../kernel/validate.ts'
import { explained } from '../kernel/violations.ts'
import type { Event } from './catalog.ts'
import { insertRows, type Rows, rowsOf, writeWithEvents } from './record.ts'

/** How many records of one kind come into being at once. */
export interface Batch<R extends { id: string }> {
  resource: Pick<Resource, 'table' | 'toRow'>
  /** Fields that name records of other tables; a list of names counts one by one. */
  references: Record<string, Reference>
  /** Fields that no two records share, and whether letters count as the same in both cases. */
  unique: Record<string, 'exact' | 'anyCase'>
  events(record: R): Event[]
  /** Rows that belong to the new records, such as entries of their activity. */
  along?(tx: Tx, records: R[]): Rows[]
  /** Values of columns that the resource does not show. */
  hidden?(tx: Tx, record: R): Record<string, unknown>
}

/** Which of these ids exist and may be named. They stay so until the transaction ends. */
export type Reference = (tx: Tx, ids: string[]) => Promise<Set<string>>

/** Ids of a table, held against deletion. */
export const idsIn = (
  table: string,
  message = 'does not name a record of this workspace.',
): Reference & { message?: string } =>
  Object.assign(
    async ({ sql, workspaceId }: Tx, ids: string[]) => {
      const rows = await sql`
        select id from ${raw(sql, table)} where workspace_id = ${workspaceId} and id = any(${ids}) for key share`
      return new Set(rows.map(({ id }) => id as string))
    },
    { message },
  )

/** Creates what can be created of a list of bodies. Each is checked as if it had come alone. */
export async function createItems<R extends { id: string }, B>(
  tx: Tx,
  batch: Batch<R>,
  resource: Pick<Resource, 'schema' | 'withoutReadOnly'>,
  newRecord: (tx: Tx, body: B) => { record: R; problems: Problem[] },
  items: unknown[],
): Promise<Outcome<R>[]> {
  const checked = items.map((item): Outcome<R> => {
    const isObject = typeof item === 'object' && item !== null && !Array.isArray(item)
    const body = isObject ? resource.withoutReadOnly(item, 'create') : item
    const problems = problemsOf(resource.schema.create, body)
    if (problems.length > 0) return { error: invalid(problems) }
    const made = newRecord(tx, body as B)
    return made.problems.length > 0 ? { error: invalid(made.problems) } : { record: made.record }
  })
  const records = checked.flatMap((outcome) => ('record' in outcome ? [outcome.record] : []))
  const errors = await createMany(tx, batch, records)
  const errorOf = new Map(records.map((record, index) => [record, errors[index]]))
  return checked.map((outcome) => {
    const error = 'record' in outcome ? errorOf.get(outcome.record) : undefined
    return error ? { error } : outcome
  })
}

// Between the look-up and the write another request can take a unique value; the next look-up then sees it.
const tries = 3

/**
 * Writes records with their events in one statement, however many they are, after one look-up per
 * kind of reference. A record that cannot be written fails alone: the answer has its error at its
 * place, and undefined where all went well.
 */
export function createMany<R extends { id: string }>(
  tx: Tx,
  batch: Batch<R>,
  records: R[],
): Promise<(ApiError | undefined)[]> {
  return transaction(tx, async (tx) => {
    for (let tried = 1; ; tried++) {
      const errors = await refusals(tx, batch, records)
      const good = records.filter((_, index) => !errors[index])
      if (good.length === 0) return errors
      try {
        await (tx.sql as Transaction).savepoint((sql) => insertAll({ ...tx, sql }, batch, good))
        return errors
      } catch (error) {
        const lostRace = error instanceof postgres.PostgresError && /^2350[35]$/.test(error.code)
        if (!lostRace) throw error
        if (tried === tries) return oneByOne(tx, batch, records, errors)
      }
    }
  })
}

// For what no look-up foresees: the database itself then says which record it refuses.
async function oneByOne<R extends { id: string }>(
  tx: Tx,
  batch: Batch<R>,
  records: R[],
  errors: (ApiError | undefined)[],
): Promise<(ApiError | undefined)[]> {
  for (const [index, record] of records.entries()) {
    if (errors[index]) continue
    try {
      await (tx.sql as Transaction).savepoint((sql) => insertAll({ ...tx, sql }, batch, [record]))
    } catch (error) {
      const known = explained(error)
      if (!(known instanceof ApiError)) throw error
      errors[index] = known
    }
  }
  return errors
}

async function insertAll<R extends { id: string }>(tx: Tx, batch: Batch<R>, records: R[]): Promise<void> {
  const { resource, rows } = rowsOf(batch.resource, records)
  const whole = rows.map((row, index) => ({ ...row, ...batch.hidden?.(tx, records[index]!) }))
  const insert = tx.sql`${insertRows(tx, { resource, rows: whole }, tx.sql``)} returning 1`
  await writeWithEvents(tx, insert, records.flatMap(batch.events), batch.along?.(tx, records) ?? [])
}

/** Everything that keeps records from being written, from as many statements as there are kinds of reason. */
export async function refusals<R extends { id: string }>(
  tx: Tx,
  batch: Batch<R>,
  records: R[],
): Promise<(ApiError | undefined)[]> {
  const problems: Problem[][] = records.map(() => [])
  const conflicts = new Map<number, ApiError>()
  await Promise.all([
    ...Object.entries(batch.references).map(async ([field, reference]) => {
      const named = records.map((record) => [valueAt(record, field.split('.')) ?? []].flat() as string[])
      const wanted = [...new Set(named.flat())]
      if (wanted.length === 0) return
      const existing = await reference(tx, wanted)
      for (const [index, ids] of named.entries()) {
        for (const [at, id] of ids.entries()) {
          if (existing.has(id)) continue
          const isList = Array.isArray(valueAt(records[index]!, field.split('.')))
          problems[index]!.push({ field: isList ? `${field}[${at}]` : field, message: messageOf(reference) })
        }
      }
    }),
    ...Object.entries(batch.unique).map(async ([field, how]) => {
      for (const index of await taken(tx, batch.resource.table, field, how, records)) {
        conflicts.set(
          index,
          conflict(`Another record already has this ${field.replaceAll('_', ' ')}.`, {
            details: [{ field, message: 'is already taken by another record.' }],
          }),
        )
      }
    }),
  ])
  return records.map((_, index) =>
    problems[index]!.length > 0 ? invalid(problems[index]!) : conflicts.get(index),
  )
}

const messageOf = (reference: Reference) =>
  (reference as { message?: string }).message ?? 'does not name a record of this workspace.'

/** The records whose value another one has, in the table or earlier in the list. */
async function taken(
  { sql, workspaceId }: Tx,
  table: string,
  field: string,
  how: 'exact' | 'anyCase',
  records: object[],
): Promise<number[]> {
  const values = records.map((record) => {
    const value = valueAt(record, field.split('.')) as string | null
    return how === 'anyCase' ? value?.toLowerCase() : value
  })
  const wanted = values.filter((value) => value != null)
  if (wanted.length === 0) return []
  const column = how === 'anyCase' ? `lower(${field})` : field
  const rows = await sql`
    select ${raw(sql, column)} as value from ${raw(sql, table)}
    where workspace_id = ${workspaceId} and ${raw(sql, column)} = any(${wanted})`
  const seen = new Set(rows.map(({ value }) => value as string))
  return values.flatMap((value, index) => {
    if (value == null) return []
    if (seen.has(value)) return [index]
    seen.add(value)
    return []
  })
}
