import { describe, expect, it } from 'vitest'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

describe('the workspace', () => {
  it('is shown to any valid credential, on each host its own', async () => {
    const { tenant } = harness
    const key = await harness.createKey(tenant.production, ['webhooks'])
    await scenario({
      as: key,
      get: '/v1/workspace',
      status: 200,
      match: { id: tenant.production.id, name: 'Test Realty', plan: 'enterprise', environment: 'production' },
    })
    await scenario({
      as: tenant.testKey,
      on: 'sandbox',
      get: '/v1/workspace',
      status: 200,
      match: { id: tenant.sandbox.id, environment: 'sandbox', production_id: tenant.production.id },
    })
  })

  it('is changed by admins, as far as it is theirs to change', async () => {
    const { data, headers } = await scenario({ get: '/v1/workspace', status: 200 })
    const sent = {
      ...data,
      name: 'Renamed',
      currency: 'AED',
      plan: 'starter',
      id: 'ws_mine',
      environment: 'sandbox',
    }
    const changed = await scenario({
      put: '/v1/workspace',
      body: sent,
      headers: { 'if-match': headers.etag! },
      status: 200,
      match: { ...data, name: 'Renamed', currency: 'AED' },
    })
    expect((await scenario({ get: '/v1/workspace', status: 200 })).data).toEqual(changed.data)
    await scenario({
      put: '/v1/workspace',
      body: { name: 'Late' },
      headers: { 'if-match': headers.etag! },
      status: 412,
    })
    await scenario({
      put: '/v1/workspace',
      body: { currency: 'dirham', name: null },
      status: 422,
      wrong: ['currency', 'name'],
    })
    const weak = await harness.createKey(harness.tenant.production, ['write:properties'])
    await scenario({ as: weak, put: '/v1/workspace', body: { name: 'Mine' }, status: 403 })
  })

  it('can shut keys out, and lets people in to change that again', async () => {
    const tenant = await harness.createTenant({ name: 'Careful', plan: 'professional', currency: 'USD' })
    const session = await harness.signIn(tenant.ownerEmail)
    await scenario({ as: session, put: '/v1/workspace', body: { api_access: false }, status: 200 })
    await scenario({
      as: tenant.adminKey,
      get: '/v1/workspace',
      status: 403,
      error: { message: expect.stringContaining('professional') },
    })
    await scenario({ as: session, put: '/v1/workspace', body: { api_access: true }, status: 200 })
    await scenario({ as: tenant.adminKey, get: '/v1/workspace', status: 200 })
  })

  it('on the plan Starter has people, but no keys', async () => {
    const tenant = await harness.createTenant({ name: 'Small', plan: 'starter', currency: 'USD' })
    const message = expect.stringContaining('Starter')
    await scenario({ as: tenant.adminKey, get: '/v1/workspace', status: 403, error: { message } })
    const session = await harness.signIn(tenant.ownerEmail)
    await scenario({ as: session, get: '/v1/workspace', status: 200, match: { plan: 'starter' } })
  })
})
