import { randomBytes } from 'node:crypto'
import {
  findAccountByEmail,
  insertAccount,
  insertMembership,
  insertSandboxMembership,
  minPasswordLength,
  setPassword,
} from '../features/accounts/people.ts'
import { findWorkspace } from '../features/workspaces/queries.ts'
import { systemClock } from '../kernel/clock.ts'
import { isEmail } from '../kernel/formats.ts'
import { type Role, roles } from '../kernel/scopes.ts'
import { type Command, type CommandInput, print, requiredOption, UsageError } from './command.ts'
import { withDatabase } from './operator.ts'

export const account: Command = {
  summary: 'Make and list people who can sign in, and set their passwords.',
  usage: 'create|list|set-password [options]',
  options: {
    email: { type: 'string', description: 'The e-mail address they sign in with.' },
    name: { type: 'string', description: 'Their name.' },
    password: { type: 'string', description: 'Their password; made up and shown once unless given.' },
    workspace: {
      type: 'string',
      description: 'The production workspace (ws_…) to work in, and its sandbox.',
    },
    role: { type: 'string', description: `Their role in it: ${roles.join(', ')}; agent unless given.` },
  },
  run: async (input) => {
    const [action] = input.words
    if (action === 'create') return create(input)
    if (action === 'list') return list(input)
    if (action === 'set-password') return changePassword(input)
    throw new UsageError('say what to do: create, list or set-password')
  },
}

/** A person who exists already only joins the workspace. */
const create = ({ options, json }: CommandInput) =>
  withDatabase(async (sql) => {
    const now = systemClock.now()
    const email = requiredOption(options, 'email')
    if (!isEmail(email)) throw new UsageError('--email is not an e-mail address')
    const role = (options.role ?? 'agent') as Role
    if (!roles.includes(role)) throw new UsageError(`--role must be one of ${roles.join(', ')}`)
    const productionId = options.workspace as string | undefined
    const workspace = productionId ? await findWorkspace(sql, productionId) : undefined
    if (productionId && workspace?.environment !== 'production')
      throw new UsageError(`there is no production workspace ${productionId}; see plotbase workspace list`)
    const known = await findAccountByEmail(sql, email)
    if (known && !productionId) throw new UsageError(`there is an account ${email} already`)
    const password = known ? undefined : readPassword(options.password)
    const name = known?.name ?? requiredOption(options, 'name')
    const join = sql.begin(async (tx) => {
      const accountId = known?.id ?? (await insertAccount(tx, { email, name, password: password! }, now))
      if (productionId) {
        const member = { accountId, email, name, role }
        await insertMembership(tx, { ...member, workspaceId: productionId }, now)
        await insertSandboxMembership(tx, { ...member, productionId }, now)
      }
      return accountId
    })
    const id = await join.catch((error) => {
      if (error.constraint_name !== 'agents__email__unique') throw error
      throw new UsageError(`${email} works in ${productionId} already`)
    })
    print({ id, email, name, ...(password && !options.password && { password }) }, json)
  })

const list = ({ json }: CommandInput) =>
  withDatabase(async (sql) =>
    print(
      await sql`
        select c.id, c.email, c.name, c.created_at,
          coalesce(array_agg(a.workspace_id || ' ' || a.role || ' ' || a.status order by a.created_at)
            filter (where a.id is not null), '{}') as workspaces
        from accounts c left join agents a on a.account_id = c.id
        group by c.id order by c.created_at, c.id`,
      json,
    ),
  )

const changePassword = ({ options, json }: CommandInput) =>
  withDatabase(async (sql) => {
    const email = requiredOption(options, 'email')
    const person = await findAccountByEmail(sql, email)
    if (!person) throw new UsageError(`there is no account ${email}; see plotbase account list`)
    const password = readPassword(options.password)
    await setPassword(sql, person.id, password, systemClock.now())
    print({ id: person.id, email, ...(!options.password && { password }) }, json)
  })

function readPassword(given: string | boolean | undefined): string {
  if (typeof given !== 'string') return randomBytes(12).toString('base64url')
  if (given.length < minPasswordLength)
    throw new UsageError(`--password must have at least ${minPasswordLength} characters`)
  return given
}
