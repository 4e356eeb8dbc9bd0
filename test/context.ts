import pino from 'pino'
import type { Context } from '../src/kernel/context.ts'
import { scopes } from '../src/kernel/scopes.ts'
import { Totals } from '../src/kernel/totals.ts'
import type { Harness } from './harness.ts'

/** A request's context without the request, for tests of what lies below HTTP: an admin key of the harness' tenant. */
export const contextFor = (harness: Harness, parts: Partial<Context> = {}): Context => ({
  requestId: 'req_test',
  principal: {
    kind: 'api_key',
    credentialId: 'key_test',
    workspace: harness.tenant.production,
    scopes: new Set(scopes),
    granted: new Set(scopes),
    accountId: null,
    agentId: null,
    role: null,
    teamId: null,
  },
  environment: 'production',
  urls: { ...harness.urls, auth: harness.urls.production },
  clock: harness.clock,
  log: pino({ level: 'silent' }),
  sql: harness.sql,
  totals: new Totals(() => {}),
  secrets: harness.secrets,
  courier: harness.courier,
  ...parts,
})
