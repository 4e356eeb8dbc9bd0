import { findWorkspace, setCustomLimits } from '../features/workspaces/queries.ts'
import { systemClock } from '../kernel/clock.ts'
import {
  type CustomLimits,
  customisable,
  endpointLimits,
  mostCustom,
  planLimits,
} from '../kernel/limits/plans.ts'
import { type Command, type CommandInput, print, requiredOption, UsageError } from './command.ts'
import { withDatabase } from './operator.ts'

// leads_bulk is written --leads-bulk.
const optionOf = (window: string) => window.replace('_', '-')

export const limitOptions: NonNullable<Command['options']> = {
  workspace: { type: 'string', description: 'limits: the workspace (ws_…), production or sandbox.' },
  ...Object.fromEntries(
    customisable.map((window) => [
      optionOf(window),
      { type: 'string', description: `limits: how many requests in the window "${window}".` },
    ]),
  ),
  reset: { type: 'boolean', description: "limits: back to the plan's." },
}

/** Shows the limits of a workspace, after changing those that are given, for it and its sandbox alike. */
export const limits = ({ options, json }: CommandInput): Promise<void> =>
  withDatabase(async (sql) => {
    const id = requiredOption(options, 'workspace')
    const workspace = await findWorkspace(sql, id)
    if (!workspace) throw new UsageError(`there is no workspace ${id}; see plotbase workspace list`)
    const given = readLimits(options)
    const changed = options.reset === true || Object.keys(given).length > 0
    const custom = options.reset === true ? given : { ...workspace.customLimits, ...given }
    const agreed = Object.keys(custom).length > 0 ? custom : null
    if (changed) await setCustomLimits(sql, id, agreed, systemClock.now())
    const endpoints = Object.entries(endpointLimits).map(([window, { limit }]) => [window, limit])
    const effective = { ...planLimits[workspace.plan], ...Object.fromEntries(endpoints), ...custom }
    print(
      customisable.map((window) => ({
        window,
        limit: effective[window] ?? 'none',
        from: window in custom ? 'agreed' : 'plan',
      })),
      json,
    )
  })

function readLimits(options: CommandInput['options']): CustomLimits {
  const given = customisable.flatMap((window): [string, number | null][] => {
    const text = options[optionOf(window)]
    if (typeof text !== 'string') return []
    if (window === 'day' && text === 'none') return [[window, null]]
    const limit = Number(text)
    if (!/^\d+$/.test(text) || limit < 1 || limit > mostCustom)
      throw new UsageError(
        `--${optionOf(window)} must be a whole number from 1 to ${mostCustom}${window === 'day' ? ', or none' : ''}`,
      )
    return [[window, limit]]
  })
  return Object.fromEntries(given)
}
