/** What a credential may be granted, in the words a person reads when granting it. */
export const scopeMeanings = {
  'read:properties': 'See properties and units',
  'write:properties': 'Create, change and delete properties and units',
  'read:leads': 'See leads, deals, commissions and invoices',
  'write:leads': 'Create and change leads, and win, close or cancel deals',
  'read:agents': 'See agents and teams',
  'write:agents': 'Invite, change and deactivate agents, and manage teams',
  'read:analytics': 'See statistics and analytics',
  webhooks: 'Manage webhooks and read events',
  admin: 'Full access to the workspace, including keys and private units',
} as const

export type Scope = keyof typeof scopeMeanings
export const scopes = Object.keys(scopeMeanings) as Scope[]
export const isScope = (text: string): text is Scope => Object.hasOwn(scopeMeanings, text)

export const roles = ['owner', 'admin', 'agent', 'viewer'] as const
export type Role = (typeof roles)[number]

/** A person's token can do at most this, whatever was granted. */
export const roleScopes: Record<Role, readonly Scope[]> = {
  owner: scopes,
  admin: scopes,
  agent: ['read:properties', 'read:leads', 'write:leads', 'read:agents', 'read:analytics'],
  viewer: ['read:properties', 'read:leads', 'read:agents', 'read:analytics'],
}

/** What is left of a grant in the hands of a person with this role. */
export const cutToRole = (granted: ReadonlySet<Scope>, role: Role): Set<Scope> =>
  new Set(roleScopes[role].filter((scope) => holds(granted, scope)))

/** Test keys reach sandbox data only, and never administer it. */
export const testKeyScopes: readonly Scope[] = scopes.filter((scope) => scope !== 'admin')

/** `admin` includes everything, and `write:x` includes `read:x`. */
export function holds(granted: ReadonlySet<Scope>, needed: Scope): boolean {
  if (granted.has(needed) || granted.has('admin')) return true
  return needed.startsWith('read:') && granted.has(needed.replace('read:', 'write:') as Scope)
}
