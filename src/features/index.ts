import type { Endpoint } from '../kernel/endpoint.ts'
import { agentRoutes } from './agents/routes.ts'
import { Agent } from './agents/schema.ts'
import { dealRoutes } from './deals/routes.ts'
import { Commission, Deal, Invoice } from './deals/schema.ts'
import { Activity, Note } from './leads/activity-schema.ts'
import { leadRoutes } from './leads/routes.ts'
import { Lead } from './leads/schema.ts'
import { pipelineRoutes } from './pipeline/routes.ts'
import { propertyRoutes } from './properties/routes.ts'
import { Property } from './properties/schema.ts'
import { teamRoutes } from './teams/routes.ts'
import { Team } from './teams/schema.ts'
import { unitRoutes } from './units/routes.ts'
import { Unit } from './units/schema.ts'

/** Every operation of the API. What is not in this list does not exist. */
export const endpoints: Endpoint[] = [
  ...propertyRoutes,
  ...unitRoutes,
  ...leadRoutes,
  ...pipelineRoutes,
  ...dealRoutes,
  ...agentRoutes,
  ...teamRoutes,
]

/** Every resource that has a table of its own. */
export const resources = [Property, Unit, Lead, Activity, Note, Deal, Commission, Invoice, Agent, Team]

/** The chapters of the reference. */
export const chapters = [
  { name: 'Properties', description: Property.description },
  { name: 'Units', description: Unit.description },
  { name: 'Leads', description: Lead.description },
  { name: 'Deals', description: Deal.description },
  { name: 'Agents', description: Agent.description },
  { name: 'Teams', description: Team.description },
]
