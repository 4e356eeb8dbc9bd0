import { insertWorkspacePair, listWorkspaces } from '../features/workspaces/queries.ts'
import { systemClock } from '../kernel/clock.ts'
import { type Plan, plans } from '../kernel/context.ts'
import { type Command, type CommandInput, print, requiredOption, UsageError } from './command.ts'
import { withDatabase } from './operator.ts'
import { limitOptions, limits } from './workspace-limits.ts'

export const workspace: Command = {
  summary: 'Make and list workspaces, and agree on limits with them. Each comes with a sandbox.',
  usage: 'create|list|limits [options]',
  options: {
    name: { type: 'string', description: 'The name of the organisation.' },
    plan: { type: 'string', description: `${plans.join(', ')}; professional unless given.` },
    currency: { type: 'string', description: 'Its currency, such as EUR; USD unless given.' },
    ...limitOptions,
  },
  run: async (input) => {
    const [action] = input.words
    if (action === 'create') return create(input)
    if (action === 'list') return list(input)
    if (action === 'limits') return limits(input)
    throw new UsageError('say what to do: create, list or limits')
  },
}

const create = ({ options, json }: CommandInput) =>
  withDatabase(async (sql) => {
    const name = requiredOption(options, 'name')
    const plan = (options.plan ?? 'professional') as Plan
    const currency = (options.currency ?? 'USD') as string
    if (!plans.includes(plan)) throw new UsageError(`--plan must be one of ${plans.join(', ')}`)
    if (!/^[A-Z]{3}$/.test(currency)) throw new UsageError('--currency must be three capital letters')
    const { production, sandbox } = await insertWorkspacePair(
      sql,
      { name, plan, currency },
      systemClock.now(),
    )
    print({ id: production.id, sandbox_id: sandbox.id, name, plan, currency }, json)
  })

const list = ({ json }: CommandInput) =>
  withDatabase(async (sql) => {
    const rows = await listWorkspaces(sql)
    print(
      rows.map(({ custom_limits: _, ...row }) => row),
      json,
    )
  })
