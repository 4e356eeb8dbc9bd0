import { readdir, readFile } from 'node:fs/promises'
import type { Pool, Transaction } from '../kernel/sql.ts'
import { StartError } from '../kernel/start-error.ts'

const folder = new URL('../../migrations/', import.meta.url)

/** Any number will do, as long as every process takes the same one. */
const migrationLock = 7_201_350_002

export async function migrationNames(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
}

/**
 * Brings the schema up to date: forward only, each file in a transaction of its own, one process at
 * a time. Returns the names of what it applied.
 */
export async function migrate(sql: Pool): Promise<string[]> {
  const names = await migrationNames()
  const applied: string[] = []
  for (const name of names) {
    const ran = await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${migrationLock})`
      await prepareLedger(tx)
      await refuseNewerDatabase(tx, names)
      return applyOnce(tx, name)
    })
    if (ran) applied.push(name)
  }
  return applied
}

/** The migrations that the program has and the database has not. */
export async function pendingMigrations(sql: Pool): Promise<string[]> {
  const names = await migrationNames()
  const [ledger] = await sql`select to_regclass('schema_migrations') is not null as there`
  if (!ledger!.there) return names
  const done = new Set((await sql`select name from schema_migrations`).map((row) => row.name))
  return names.filter((name) => !done.has(name))
}

const prepareLedger = (tx: Transaction) =>
  tx`create table if not exists schema_migrations (name text primary key, applied_at timestamptz not null default now())`

async function refuseNewerDatabase(tx: Transaction, names: string[]): Promise<void> {
  const rows =
    await tx`select name from schema_migrations where not (name = any(${names})) order by name limit 1`
  if (rows.length === 0) return
  throw new StartError(
    `The database was migrated by a newer Plotbase (it has ${rows[0]!.name}, which this version does not know); run that version or a later one.`,
  )
}

async function applyOnce(tx: Transaction, name: string): Promise<boolean> {
  const [claimed] =
    await tx`insert into schema_migrations (name) values (${name}) on conflict do nothing returning name`
  if (!claimed) return false
  await tx.unsafe(await readFile(new URL(name, folder), 'utf8'))
  return true
}
