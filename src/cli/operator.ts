import { loadConfig } from '../config.ts'
import { migrate } from '../infra/migrate.ts'
import { joinDatabase } from '../infra/open-database.ts'
import type { Pool } from '../kernel/sql.ts'

/** Runs an operator's command on the database that the server uses, migrated. */
export async function withDatabase<T>(work: (sql: Pool) => Promise<T>): Promise<T> {
  const config = loadConfig(process.env)
  const database = await joinDatabase({ ...config, pool: 2, log: () => {} })
  try {
    await migrate(database.sql)
    return await work(database.sql)
  } finally {
    await database.close()
  }
}
