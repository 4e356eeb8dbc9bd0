import type { Endpoint } from '../kernel/endpoint.ts'
import { apiKeyRoutes } from './api-keys/routes.ts'
import { ApiKey } from './api-keys/schema.ts'
import { eventRoutes } from './events/routes.ts'
import { EventRecord } from './events/schema.ts'
import { oauthClientRoutes } from './oauth-clients/routes.ts'
import { OAuthClient } from './oauth-clients/schema.ts'
import { passwordResetRoutes } from './password-resets/routes.ts'
import { propertyRoutes } from './properties/routes.ts'
import { Property } from './properties/schema.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { unitRoutes } from './units/routes.ts'
import { Unit } from './units/schema.ts'
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
  ...webhookRoutes,
  ...deliveryRoutes,
  ...eventRoutes,
  ...workspaceRoutes,
  ...apiKeyRoutes,
  ...oauthClientRoutes,
  ...sessionRoutes,
  ...passwordResetRoutes,
]

/** Every resource that has a table of its own. */
export const resources = [Property, Unit, Webhook, Delivery, EventRecord, ApiKey, OAuthClient]

/** The chapters of the reference. */
export const chapters = [
  { name: 'Properties', description: Property.description },
  { name: 'Units', description: Unit.description },
  { name: 'Webhooks', description: Webhook.description },
  { name: 'Events', description: EventRecord.description },
  { name: 'Workspace', description: WorkspaceRecord.description },
  { name: 'API keys', description: ApiKey.description },
  { name: 'OAuth clients', description: OAuthClient.description },
  { name: 'Sessions', description: 'Signing in and out as a person.' },
]
