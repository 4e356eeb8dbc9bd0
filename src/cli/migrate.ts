import { loadConfig } from '../config.ts'
import { migrate as applyMigrations } from '../infra/migrate.ts'
import { joinDatabase } from '../infra/open-database.ts'
import { type Command, print } from './command.ts'

export const migrate: Command = {
  summary: 'Bring the database up to date and end. Safe to run from several machines at once.',
  usage: '',
  run: async ({ json }) => {
    const database = await joinDatabase({ ...loadConfig(process.env), pool: 2, log: () => {} })
    try {
      const applied = await applyMigrations(database.sql)
      if (json) return print({ applied }, true)
      process.stdout.write(
        applied.length === 0 ? 'Nothing to do.\n' : applied.map((name) => `Applied ${name}\n`).join(''),
      )
    } finally {
      await database.close()
    }
  },
}
