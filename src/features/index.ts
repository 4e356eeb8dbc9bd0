import type { Endpoint } from '../kernel/endpoint.ts'
import { agentRoutes } from './agents/routes.ts'
import { Agent } from './agents/schema.ts'
import { analyticsRoutes } from './analytics/routes.ts'
import { apiKeyRoutes } from './api-keys/routes.ts'
import { ApiKey } from './api-keys/schema.ts'
import { dealRoutes } from './deals/routes.ts'
import { Commission, Deal, Invoice } from './deals/schema.ts'
import { eventRoutes } from './events/routes.ts'
import { EventRecord } from './events/schema.ts'
import { exportRoutes } from './exports/routes.ts'
import { importRoutes } from './imports/routes.ts'
import { Import } from './imports/schema.ts'
import { importStartRoutes } from './imports/start-routes.ts'
import { Activity, Note } from './leads/activity-schema.ts'
import { leadBulkRoutes } from './leads/bulk-routes.ts'
import { leadRoutes } from './leads/routes.ts'
import { Lead } from './leads/schema.ts'
import { oauthClientRoutes } from './oauth-clients/routes.ts'
import { OAuthClient } from './oauth-clients/schema.ts'
import { passwordResetRoutes } from './password-resets/routes.ts'
import { pipelineRoutes } from './pipeline/routes.ts'
import { propertyRoutes } from './properties/routes.ts'
import { Property } from './properties/schema.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { teamRoutes } from './teams/routes.ts'
import { Team } from './teams/schema.ts'
import { unitBulkRoutes } from './units/bulk-routes.ts'
import { unitRoutes } from './units/routes.ts'
import { Unit } from './units/schema.ts'
import { usageRoutes } from './usage/routes.ts'
import { deliveryRoutes } from './webhooks/delivery-routes.ts'
import { Delivery } from './webhooks/delivery-schema.ts'
import { webhookRoutes } from './webhooks/routes.ts'
import { Webhook } from './webhooks/schema.ts'
import { workspaceRoutes } from './workspaces/routes.ts'
import { WorkspaceRecord } from './workspaces/schema.ts'

/** Every operation of the API. What is not in this list does not exist. */
export const endpoints: Endpoint[] = [
  ...propertyRoutes,
  ...unitRoutes,
  ...leadRoutes,
  ...leadBulkRoutes,
  ...pipelineRoutes,
  ...dealRoutes,
  ...agentRoutes,
  ...teamRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...eventRoutes,
  ...unitBulkRoutes,
  ...exportRoutes,
  ...importStartRoutes,
  ...importRoutes,
  ...analyticsRoutes,
  ...workspaceRoutes,
  ...apiKeyRoutes,
  ...oauthClientRoutes,
  ...sessionRoutes,
  ...passwordResetRoutes,
  ...usageRoutes,
]

/** Every resource that has a table of its own. */
export const resources = [
  Property,
  Unit,
  Lead,
  Activity,
  Note,
  Deal,
  Commission,
  Invoice,
  Agent,
  Team,
  Webhook,
  Delivery,
  EventRecord,
  Import,
  ApiKey,
  OAuthClient,
]

/** The chapters of the reference. */
export const chapters = [
  { name: 'Properties', description: Property.description },
  { name: 'Units', description: Unit.description },
  { name: 'Leads', description: Lead.description },
  { name: 'Deals', description: Deal.description },
  { name: 'Agents', description: Agent.description },
  { name: 'Teams', description: Team.description },
  { name: 'Analytics', description: 'How the organisation is doing.' },
  { name: 'Imports', description: Import.description },
  { name: 'Webhooks', description: Webhook.description },
  { name: 'Events', description: EventRecord.description },
  { name: 'Workspace', description: WorkspaceRecord.description },
  { name: 'API keys', description: ApiKey.description },
  { name: 'OAuth clients', description: OAuthClient.description },
  { name: 'Sessions', description: 'Signing in and out as a person.' },
  { name: 'Usage', description: 'What is left of the limits, and what was asked by whom.' },
]
