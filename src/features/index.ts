import type { Endpoint } from '../kernel/endpoint.ts'
import { propertyRoutes } from './properties/routes.ts'
import { Property } from './properties/schema.ts'
import { unitRoutes } from './units/routes.ts'
import { Unit } from './units/schema.ts'
import { usageRoutes } from './usage/routes.ts'

/** Every operation of the API. What is not in this list does not exist. */
export const endpoints: Endpoint[] = [...propertyRoutes, ...unitRoutes, ...usageRoutes]

/** Every resource that has a table of its own. */
export const resources = [Property, Unit]

/** The chapters of the reference. */
export const chapters = [
  { name: 'Properties', description: Property.description },
  { name: 'Units', description: Unit.description },
  { name: 'Usage', description: 'What is left of the limits, and what was asked by whom.' },
]
