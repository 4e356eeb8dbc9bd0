import { insertKey, listKeys, revokeKey } from '../features/api-keys/queries.ts'
import { newKeyToken } from '../features/api-keys/token.ts'
import { findWorkspace } from '../features/workspaces/queries.ts'
import { systemClock } from '../kernel/clock.ts'
import { isScope, type Scope, scopes, testKeyScopes } from '../kernel/scopes.ts'
import { type Command, type CommandInput, print, requiredOption, UsageError } from './command.ts'
import { withDatabase } from './operator.ts'

export const keys: Command = {
  summary: 'Make, list and revoke API keys.',
  usage: 'create|list|revoke [options]',
  options: {
    workspace: { type: 'string', description: 'The workspace (ws_…); see plotbase workspace list.' },
    name: { type: 'string', description: 'What the key is for.' },
    scopes: { type: 'string', description: `Separated by commas, or "all": ${scopes.join(', ')}.` },
    expires: {
      type: 'string',
      description: 'When it ends, such as 2027-01-31T00:00:00Z; never unless given.',
    },
    id: { type: 'string', description: 'The key (key_…) to revoke.' },
  },
  run: async (input) => {
    const [action] = input.words
    if (action === 'create') return create(input)
    if (action === 'list') return list(input)
    if (action === 'revoke') return revoke(input)
    throw new UsageError('say what to do: create, list or revoke')
  },
}

const create = ({ options, json }: CommandInput) =>
  withDatabase(async (sql) => {
    const workspaceId = requiredOption(options, 'workspace')
    const name = requiredOption(options, 'name')
    const workspace = await findWorkspace(sql, workspaceId)
    if (!workspace) throw new UsageError(`there is no workspace ${workspaceId}; see plotbase workspace list`)
    const allowed = workspace.environment === 'sandbox' ? testKeyScopes : scopes
    const granted = readScopes(requiredOption(options, 'scopes'), allowed)
    const token = newKeyToken(workspace.environment)
    const expiresAt = readTime(options.expires)
    const id = await insertKey(
      sql,
      { workspaceId, name, scopes: granted, token, createdBy: null, expiresAt },
      systemClock.now(),
    )
    print({ id, name, environment: workspace.environment, scopes: granted, key: token }, json)
    if (!json) process.stderr.write('The key is shown only now; keep it safe.\n')
  })

const list = ({ options, json }: CommandInput) =>
  withDatabase(async (sql) => print(await listKeys(sql, options.workspace as string | undefined), json))

const revoke = ({ words, options, json }: CommandInput) =>
  withDatabase(async (sql) => {
    const id = words[1] ?? requiredOption(options, 'id')
    if (!(await revokeKey(sql, id, systemClock.now())))
      throw new UsageError(`there is no key ${id}; see plotbase keys list`)
    print({ id, revoked: true }, json)
  })

function readScopes(text: string, allowed: readonly Scope[]): Scope[] {
  if (text === 'all') return [...allowed]
  const wanted = text.split(',').map((scope) => scope.trim())
  const wrong = wanted.filter((scope) => !isScope(scope) || !allowed.includes(scope))
  if (wrong.length > 0)
    throw new UsageError(`--scopes does not take ${wrong.join(', ')}; possible are ${allowed.join(', ')}`)
  return wanted as Scope[]
}

function readTime(text: string | boolean | undefined): Date | null {
  if (typeof text !== 'string') return null
  const time = new Date(text)
  if (Number.isNaN(time.getTime()))
    throw new UsageError('--expires must be a time such as 2027-01-31T00:00:00Z')
  return time
}
