import type { Plan } from '../context.ts'

/** How much each plan may ask. `null` is without limit. */
export const planLimits: Record<Plan, Record<PlanWindow, number | null>> = {
  starter: { burst: 10, minute: 60, day: 10_000 },
  professional: { burst: 25, minute: 120, day: 50_000 },
  enterprise: { burst: 100, minute: 600, day: null },
}

const secondMs = 1_000
const minuteMs = 60_000
const dayMs = 86_400_000

/** The windows that every request of a workspace must fit. Burst is the most in one second; days are UTC's. */
export const planWindowMs = { burst: secondMs, minute: minuteMs, day: dayMs } as const
export type PlanWindow = keyof typeof planWindowMs
export const planWindows = Object.keys(planWindowMs) as PlanWindow[]

/** Further windows of a minute on some operations; operations that match one line share its budget. */
export const endpointLimits = {
  leads: { operations: /^POST \/v1\/leads$/, limit: 100 },
  leads_bulk: { operations: /^POST \/v1\/leads\/bulk$/, limit: 10 },
  import: { operations: /^POST \/v1\/[^/]+\/import$/, limit: 5 },
  analytics: { operations: /^GET \/v1\/analytics\//, limit: 30 },
} as const
export type EndpointWindow = keyof typeof endpointLimits
export const endpointWindows = Object.keys(endpointLimits) as EndpointWindow[]
export const endpointWindowMs = minuteMs

export const endpointWindowOf = (operation: { method: string; path: string }): EndpointWindow | undefined =>
  endpointWindows.find((name) =>
    endpointLimits[name].operations.test(`${operation.method} ${operation.path}`),
  )

/** For callers without a valid credential, and for operations that need none. */
export const addressWindow = { name: 'address', limit: 60, lengthMs: minuteMs } as const

/** What was agreed with one workspace; what is not in it stays as its plan has it. */
export type CustomLimits = {
  readonly [W in PlanWindow | EndpointWindow]?: W extends 'day' ? number | null : number
}

export const customisable = [...planWindows, ...endpointWindows] as const
export const mostCustom = 1_000_000_000
