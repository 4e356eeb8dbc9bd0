import postgres from 'postgres'
import { conflict, invalidField } from './errors.ts'

/*
 * Constraints are named table__field__exists (a reference), table__field__unique and
 * table__record__held (a reference that keeps a record from being deleted), so that the database's
 * own check can be told as an answer about that field: no look-up before the write, and no moment in
 * between.
 */
const named = /^(?<table>[a-z_]+?)__(?<field>[a-z_]+?)__(?<kind>exists|unique|held)$/

export function explained(error: unknown): unknown {
  if (!(error instanceof postgres.PostgresError)) return error
  const { table, field, kind } = named.exec(error.constraint_name ?? '')?.groups ?? {}
  if (error.code === '23503' && kind === 'exists') {
    return invalidField(field!, 'does not name a record of this workspace.')
  }
  if (error.code === '23503' && kind === 'held') {
    return conflict(`This cannot be deleted while ${table!.replaceAll('_', ' ')} still need the ${field!}.`, {
      cause: error,
    })
  }
  if (error.code === '23505' && kind === 'unique') {
    return conflict(`Another record already has this ${field!.replaceAll('_', ' ')}.`, { cause: error })
  }
  // Ids are ours but for records that are moved in with theirs.
  if (error.code === '23505' && error.constraint_name?.endsWith('_pkey')) {
    const details = [{ field: 'id', message: 'is already taken by another record.' }]
    return conflict('Another record already has this id.', { cause: error, details })
  }
  return error
}
