import { loadConfig } from '../config.ts'
import { resetSandbox } from '../features/sandbox/reset.ts'
import { listWorkspaces, workspaceOf } from '../features/workspaces/queries.ts'
import { systemClock } from '../kernel/clock.ts'
import { type Command, type CommandInput, print, UsageError } from './command.ts'
import { withDatabase } from './operator.ts'

export const sandbox: Command = {
  summary: 'Reset sandboxes now: their records go, people, keys and webhooks stay.',
  usage: 'reset [options]',
  options: {
    workspace: {
      type: 'string',
      description: 'One sandbox, or the workspace it belongs to; all unless given.',
    },
  },
  run: async (input) => {
    if (input.words[0] !== 'reset') throw new UsageError('say what to do: reset')
    return reset(input)
  },
}

const reset = ({ options, json }: CommandInput) =>
  withDatabase(async (sql) => {
    const { demoData } = loadConfig(process.env)
    const wanted = options.workspace
    const sandboxes = (await listWorkspaces(sql))
      .filter((row) => row.environment === 'sandbox')
      .filter((row) => wanted === undefined || wanted === row.id || wanted === row.production_id)
    if (wanted !== undefined && sandboxes.length === 0)
      throw new UsageError(`there is no sandbox ${wanted}; see plotbase workspace list`)
    for (const row of sandboxes)
      await sql.begin((tx) => resetSandbox(tx, workspaceOf(row), { demoData, now: systemClock.now() }))
    print(
      sandboxes.map(({ id, name }) => ({ id, name, reset: true })),
      json,
    )
  })
