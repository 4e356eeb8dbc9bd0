import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { insertAccount, insertMembership } from '../../src/features/accounts/people.ts'
import { insertSession } from '../../src/features/sessions/queries.ts'
import { holds, type Role, roleScopes, roles, type Scope, scopes } from '../../src/kernel/scopes.ts'
import { useHarness } from '../harness.ts'
import { Caller } from './caller.ts'
import { guarded, type Operation } from './operations.ts'
import { snapshot } from './snapshot.ts'

/** Every operation of the reference × every scope and every role: refused without it and nothing written, let in with it. */

const harness = useHarness()
const caller = new Caller(harness)
const keys = new Map<string, string>()
const sessions = new Map<Role, string>()

const neededBy = (operation: Operation) => operation.spec['x-required-scopes'] as Scope[]
const covers = (granted: readonly Scope[], needed: readonly Scope[]) =>
  needed.every((scope) => holds(new Set(granted), scope))

/** All scopes but those that give this one. */
const without = (missing: Scope) => scopes.filter((scope) => !holds(new Set([scope]), missing))

const scoped = guarded.filter((operation) => neededBy(operation).length > 0)
const forAll = guarded.filter((operation) => neededBy(operation).length === 0)

const grants = (): (readonly Scope[])[] => [
  ...scopes.map((scope) => [scope]),
  ...scoped.map(neededBy),
  ...scopes.filter((scope) => scope !== 'admin').map(without),
]
const nameOf = (granted: readonly Scope[]) => [...granted].sort().join(' ')

beforeAll(async () => {
  const { sql, clock, tenant } = harness
  for (const granted of grants())
    if (!keys.has(nameOf(granted)))
      keys.set(nameOf(granted), await harness.createKey(tenant.production, granted, tenant.ownerId))
  for (const role of roles) {
    const person = { email: `${role}-${randomBytes(4).toString('hex')}@example.com`, name: role }
    const accountId = await insertAccount(sql, person, clock.now())
    await insertMembership(
      sql,
      { ...person, workspaceId: tenant.production.id, accountId, role },
      clock.now(),
    )
    sessions.set(role, (await insertSession(sql, accountId, clock.now())).token)
  }
})

const keyWith = (granted: readonly Scope[]) => keys.get(nameOf(granted))!

async function expectRefused(operation: Operation, credentials: [string, string][]): Promise<void> {
  const before = await snapshot(harness)
  for (const [name, as] of credentials) {
    const answer = await caller.call(operation, { as })
    expect(answer.status, `${name}: ${answer.text}`).toBe(403)
    expect(answer.body.error.code).toBe('FORBIDDEN')
  }
  expect(await snapshot(harness)).toEqual(before)
}

async function expectLetIn(operation: Operation, as: string, name: string): Promise<void> {
  const answer = await caller.call(operation, { as })
  expect([401, 403], `${name}: ${answer.text}`).not.toContain(answer.status)
}

it('finds operations of both kinds', () => {
  expect(scoped.length).toBeGreaterThan(10)
  expect(forAll.length).toBeGreaterThan(0)
})

describe.each(scoped)('$name', (operation) => {
  const needed = neededBy(operation)

  it('names scopes that exist', () => {
    for (const scope of needed) expect(scopes).toContain(scope)
  })

  it('is refused to keys without its scopes, and writes nothing', async () => {
    await caller.exampleOf({ ...operation, body: operation.body ?? { schema: {}, example: {} } })
    const tooLittle = grants().filter((granted) => !covers(granted, needed))
    expect(tooLittle.length).toBeGreaterThan(0)
    const named = tooLittle.map((granted): [string, string] => [nameOf(granted), keyWith(granted)])
    await expectRefused(operation, named)
  })

  it('is refused to people whose role does not reach so far, and writes nothing', async () => {
    const below = roles.filter((role) => !covers(roleScopes[role], needed))
    await expectRefused(
      operation,
      below.map((role) => [role, sessions.get(role)!]),
    )
  })

  it('lets in whoever has them', async () => {
    await expectLetIn(operation, keyWith(needed), nameOf(needed))
    await expectLetIn(operation, keyWith(['admin']), 'admin')
    for (const role of roles.filter((role) => covers(roleScopes[role], needed)))
      await expectLetIn(operation, sessions.get(role)!, role)
  })
})

// These look further: at the kind of credential, or at the scope of what was imported.
const lookFurther = /^\/v1\/(sessions|imports)/

describe.each(forAll.filter(({ path, method }) => method === 'GET' && !lookFurther.test(path)))(
  '$name',
  (operation) => {
    it('is for any valid credential', async () => {
      for (const scope of scopes) await expectLetIn(operation, keyWith([scope]), scope)
      for (const role of roles) await expectLetIn(operation, sessions.get(role)!, role)
    })
  },
)
