import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Pool } from '../kernel/sql.ts'
import { StartError } from '../kernel/start-error.ts'
import { connect, type DatabaseAddress } from './db.ts'
import { startEmbeddedPostgres } from './embedded-postgres.ts'

export interface OpenDatabase {
  sql: Pool
  /** Called when the embedded server has died; an outside one is reconnected to for ever. */
  onLost(listener: (detail: string) => void): void
  close(): Promise<void>
}

interface Options {
  databaseUrl: string | undefined
  dataDir: string
  pool: number
  log(line: string): void
}

const oldestVersion = 15

/** The database of a server or worker: the one named by DATABASE_URL, else our own. */
export async function openDatabase(options: Options): Promise<OpenDatabase> {
  if (options.databaseUrl) return openOutside(options.databaseUrl, options.pool)
  const server = await startEmbeddedPostgres({ dataDir: options.dataDir, log: options.log })
  const sql = connect({ socket: server.connection }, { max: options.pool })
  return {
    sql,
    onLost: (listener) => server.onExit(listener),
    close: async () => {
      await sql.end({ timeout: 5 })
      await server.stop()
    },
  }
}

/** For a command beside a running server: joins its embedded PostgreSQL where there is one, else starts it for the moment. */
export async function joinDatabase(options: Options): Promise<OpenDatabase> {
  const running = options.databaseUrl ? undefined : await runningServer(options.dataDir)
  if (!running) return openDatabase(options)
  return { sql: running, onLost: () => {}, close: () => running.end({ timeout: 5 }) }
}

async function openOutside(url: string, pool: number): Promise<OpenDatabase> {
  const sql = connect({ url }, { max: pool })
  try {
    const [row] = await sql`select current_setting('server_version_num')::int / 10000 as version`
    if (row!.version < oldestVersion) {
      throw new StartError(
        `DATABASE_URL leads to PostgreSQL ${row!.version}; Plotbase needs ${oldestVersion} or later.`,
      )
    }
  } catch (error) {
    await sql.end({ timeout: 1 })
    throw error instanceof StartError
      ? error
      : new StartError(unreachable(error as Error & { code?: string }))
  }
  return { sql, onLost: () => {}, close: () => sql.end({ timeout: 5 }) }
}

// The address holds a password, so only what went wrong is told.
function unreachable(error: Error & { code?: string }): string {
  const reason = error instanceof postgres.PostgresError ? error.message : (error.code ?? 'no answer')
  return `The database in DATABASE_URL cannot be used (${reason}); check the address, the login and that the server is running.`
}

// postmaster.pid holds the port on its fourth line and the socket's folder on its fifth.
async function runningServer(dataDir: string): Promise<Pool | undefined> {
  const lines = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').then(
    (text) => text.split('\n'),
    () => [],
  )
  const [port, host] = [Number(lines[3]), lines[4]]
  if (!host) return undefined
  const address: DatabaseAddress = { socket: { host, port, user: 'plotbase', database: 'plotbase' } }
  const sql = connect(address, { max: 2, applicationName: 'plotbase command' })
  try {
    await sql`select 1`
    return sql
  } catch {
    await sql.end({ timeout: 1 })
    return undefined
  }
}
