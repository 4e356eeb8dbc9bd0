import { randomBytes } from 'node:crypto'
import { insertMembership } from '../src/features/accounts/people.ts'
import { newId } from '../src/kernel/ids.ts'
import type { Role } from '../src/kernel/scopes.ts'
import type { Harness, Tenant } from './harness.ts'

/** Records that many tests begin with. Each gives back what the API answered. */

export const aProperty = {
  name: 'Marina Heights',
  type: 'apartment',
  location: { city: 'Dubai', country: 'AE' },
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answered = any

export async function createProperty(harness: Harness, body: object = {}, as?: string): Promise<Answered> {
  const asker = as === undefined ? {} : { as }
  const { data } = await harness.scenario({
    ...asker,
    post: '/v1/properties',
    body: { ...aProperty, ...body },
    status: 201,
  })
  return data
}

export async function createUnit(
  harness: Harness,
  propertyId: string,
  body: object = {},
  as?: string,
): Promise<Answered> {
  const asker = as === undefined ? {} : { as }
  const unit = { property_id: propertyId, name: 'A-1204', price: { amount: 420_000 }, ...body }
  const { data } = await harness.scenario({ ...asker, post: '/v1/units', body: unit, status: 201 })
  return data
}

/** The events of one record, oldest first. */
export async function eventsOf({ sql }: Harness, resourceId: string): Promise<Answered[]> {
  const rows = await sql`
    select event, data, workspace_id from events where resource_id = ${resourceId} order by created_at, event`
  return [...rows]
}

export async function insertTeam(
  { sql, clock }: Harness,
  workspaceId: string,
  name: string,
): Promise<string> {
  const now = clock.now()
  const id = newId('team', now)
  await sql`
    insert into teams (workspace_id, id, name, created_at, updated_at)
    values (${workspaceId}, ${id}, ${name}, ${now}, ${now})`
  return id
}

export interface Guest {
  agentId: string
  /** Sent with every request, these make the caller that person in the harness' workspace. */
  asGuest: { as: string; headers: { 'x-workspace-id': string } }
  home: Tenant
}

/** A person with a workspace of their own who is also a member of the harness' one: bounded by their role there. */
export async function inviteGuest(
  harness: Harness,
  role: Role,
  teamId: string | null = null,
): Promise<Guest> {
  const { sql, clock, tenant } = harness
  const home = await harness.createTenant({ name: 'Home', plan: 'professional', currency: 'EUR' })
  const email = `${role}-${randomBytes(4).toString('hex')}@example.com`
  const workspaceId = tenant.production.id
  const agentId = await insertMembership(
    sql,
    { workspaceId, accountId: home.accountId, email, name: `Guest ${role}`, role },
    clock.now(),
  )
  if (teamId) await sql`update agents set team_id = ${teamId} where id = ${agentId}`
  return { agentId, home, asGuest: { as: home.adminKey, headers: { 'x-workspace-id': workspaceId } } }
}
