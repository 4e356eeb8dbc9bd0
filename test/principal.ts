import type { Plan, Principal } from '../src/kernel/context.ts'
import type { CustomLimits } from '../src/kernel/limits/plans.ts'
import { scopes } from '../src/kernel/scopes.ts'

let made = 0

/** A caller for tests below HTTP, in a workspace of their own. */
export function aPrincipal(plan: Plan, customLimits: CustomLimits | null = null): Principal {
  made++
  return {
    kind: 'session',
    credentialId: `sess_${made}`,
    workspace: {
      id: `ws_${made}`,
      name: 'Test Realty',
      plan,
      apiAccess: true,
      environment: 'production',
      currency: 'USD',
      customLimits,
    },
    granted: new Set(scopes),
    scopes: new Set(scopes),
    accountId: null,
    agentId: null,
    role: 'owner',
    teamId: null,
  }
}
