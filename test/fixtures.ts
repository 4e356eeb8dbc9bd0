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
  const email = `${role}.${randomBytes(4).toString('hex')}@example.com`
  const workspaceId = tenant.production.id
  const agentId = await insertMembership(
    sql,
    { workspaceId, accountId: home.accountId, email, name: `Guest ${role}`, role },
    clock.now(),
  )
  if (teamId) await sql`update agents set team_id = ${teamId} where id = ${agentId}`
  return { agentId, home, asGuest: { as: home.adminKey, headers: { 'x-workspace-id': workspaceId } } }
}

export const aLead = { name: 'Amina Haddad', email: 'amina@example.com' }

export async function createLead(harness: Harness, body: object = {}, as?: string): Promise<Answered> {
  const asker = as === undefined ? {} : { as }
  const { data } = await harness.scenario({
    ...asker,
    post: '/v1/leads',
    body: { ...aLead, ...body },
    status: 201,
  })
  return data
}

/** An agent who has joined, without the way through an invitation. */
export async function insertAgent(
  { sql, clock, tenant }: Harness,
  agent: { name?: string; role?: Role; rate?: number; status?: string } = {},
): Promise<string> {
  const now = clock.now()
  const id = newId('agent', now)
  const { name = 'Sara Almeida', role = 'agent', rate = null, status = 'active' } = agent
  await sql`
    insert into agents (workspace_id, id, email, name, role, status, commission_rate, created_at, updated_at)
    values (${tenant.production.id}, ${id}, ${`${id}@example.com`}, ${name}, ${role}, ${status}, ${rate}, ${now}, ${now})`
  return id
}

/** A property with a unit that can be sold. */
export async function createStock(
  harness: Harness,
  unit: object = {},
): Promise<{ property: Answered; unit: Answered }> {
  const property = await createProperty(harness)
  return { property, unit: await createUnit(harness, property.id, unit) }
}

/** The deal that winning this lead opens. */
export async function winLead(harness: Harness, leadId: string, body: object): Promise<Answered> {
  await harness.scenario({
    post: `/v1/leads/${leadId}/won`,
    body: { deal_value: 400_000, ...body },
    status: 200,
  })
  const { data } = await harness.scenario({ get: `/v1/deals?lead_id=${leadId}&status=open`, status: 200 })
  return data[0]
}
