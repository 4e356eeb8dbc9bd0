import { verify } from '@node-rs/argon2'
import { describe, expect, it } from 'vitest'
import { useHarness } from '../../../test/harness.ts'

const harness = useHarness()
const { scenario } = harness

const password = 'correct horse battery staple'
let made = 0

async function invite(body: object = {}) {
  const agent = { name: 'Sara Almeida', email: `invitee${made++}@example.com`, ...body }
  const { data } = await scenario({ post: '/v1/agents', body: agent, status: 201 })
  return { agent: data, token: await tokenFor(data.email) }
}

/** From the newest mail to this address, as its reader would find it. */
async function tokenFor(email: string): Promise<string> {
  const [mail] = await harness.sql`
    select sealed_body from mail where recipient = ${email} order by created_at desc, id desc limit 1`
  const { text, html } = JSON.parse(harness.secrets.open(mail!.sealed_body))
  const [, token] = /https:\/\/api\.test\/invitations\/accept\?token=([\w-]{43})/.exec(text) ?? []
  expect(html).toContain(`token=${token}`)
  return token!
}

const accept = (body: object, status: number) =>
  scenario({ as: null, post: '/v1/invitations/accept', body: { password, ...body }, status, events: [] })

const accountOf = async (agentId: string) => {
  const [row] = await harness.sql`
    select a.* from accounts a join agents g on g.account_id = a.id where g.id = ${agentId}`
  return row
}

describe('an invitation', () => {
  it('makes the agent active, with an account, here and in the sandbox', async () => {
    const { agent, token } = await invite({ role: 'viewer' })
    const { data } = await accept({ token, name: 'Sara A.' }, 200)
    expect(data).toMatchObject({ id: agent.id, status: 'active', name: 'Sara A.', role: 'viewer' })
    const account = await accountOf(agent.id)
    expect(account).toMatchObject({ email: agent.email, name: 'Sara A.' })
    expect(account!.password_hash).toMatch(/^\$argon2id\$/)
    expect(await verify(account!.password_hash, password)).toBe(true)
    const [sibling] = await harness.sql`
      select status, role, account_id from agents
      where workspace_id = ${harness.tenant.sandbox.id} and email = ${agent.email}`
    expect(sibling).toMatchObject({ status: 'active', role: 'viewer', account_id: account!.id })
  })

  it('works once, also when it is used twice at the same moment', async () => {
    const { token } = await invite()
    const statuses = await Promise.all(
      [1, 2].map(async () => {
        const answer = await harness
          .server()
          .inject({ method: 'POST', url: '/v1/invitations/accept', payload: { token, password } })
        return answer.statusCode
      }),
    )
    expect(statuses.sort()).toEqual([200, 422])
    await accept({ token }, 422)
  })

  it('lapses after seven days', async () => {
    const { token } = await invite()
    harness.clock.advance(7 * 86_400_000)
    await accept({ token }, 422)
    const later = await invite()
    harness.clock.advance(7 * 86_400_000 - 1)
    await accept({ token: later.token }, 200)
  })

  it('lets somebody who has an account join with it, and keeps their password', async () => {
    const home = await harness.createTenant({ name: 'Home', plan: 'professional', currency: 'EUR' })
    const [before] = await harness.sql`select email, password_hash from accounts where id = ${home.accountId}`
    const { agent, token } = await invite({ email: before!.email.toUpperCase() })
    await accept({ token }, 200)
    const account = await accountOf(agent.id)
    expect(account).toMatchObject({ id: home.accountId, password_hash: before!.password_hash })
  })

  it('is not kept where it could be read', async () => {
    const { token } = await invite()
    const [row] = await harness.sql`select count(*)::int as n from invitations where token_hash = ${token}`
    expect(row!.n).toBe(0)
    expect(harness.logLines.join('')).not.toContain(token)
  })

  it('goes to the new address when the address changes before it was accepted', async () => {
    const { agent, token } = await invite()
    const email = `moved${made++}@example.com`
    await scenario({ put: `/v1/agents/${agent.id}`, body: { email }, status: 200, match: { email } })
    await accept({ token }, 422)
    await accept({ token: await tokenFor(email) }, 200)
  })

  it('is void once the agent is deactivated, and sent anew when they are brought back', async () => {
    const { agent, token } = await invite()
    await scenario({ post: `/v1/agents/${agent.id}/deactivate`, body: {}, status: 200 })
    await accept({ token }, 422)
    harness.clock.advance(1_000)
    await scenario({
      put: `/v1/agents/${agent.id}`,
      body: { status: 'active' },
      status: 200,
      match: { status: 'active', invitation_sent_at: harness.clock.now().toISOString() },
    })
    await accept({ token: await tokenFor(agent.email) }, 200)
  })

  it.each([
    { sent: {}, wrong: ['password', 'token'] },
    { sent: { token: 'x', password: 'short' }, wrong: ['password'] },
    { sent: { token: 'x', password: 'x'.repeat(201) }, wrong: ['password'] },
    { sent: { token: 'no such token', password }, wrong: ['token'] },
    { sent: { token: 'x', password, name: '' }, wrong: ['name'] },
  ])('names $wrong as wrong', async ({ sent, wrong }) => {
    await scenario({ as: null, post: '/v1/invitations/accept', body: sent, status: 422, wrong })
  })

  it('is not sent when the agent could not be added', async () => {
    const { agent } = await invite()
    const [before] = await harness.sql`select count(*)::int as n from mail`
    await scenario({ post: '/v1/agents', body: { name: 'Twice', email: agent.email }, status: 409 })
    const [after] = await harness.sql`select count(*)::int as n from mail`
    expect(after).toEqual(before)
  })
})
