import { describe, expect, it } from 'vitest'
import { Browser } from '../../../test/browser.ts'
import { password, type Tenant, useHarness } from '../../../test/harness.ts'
import { listMail } from '../mail/outbox.ts'

const harness = useHarness()
const { scenario } = harness

const ask = (email: string) =>
  scenario({ as: null, post: '/v1/password-resets', body: { email }, status: 202, match: { accepted: true } })

const mailTo = async (email: string) =>
  (await listMail(harness.sql, harness.secrets)).filter((mail) => mail.to === email)

async function mailedToken(tenant: Tenant): Promise<string> {
  await ask(tenant.ownerEmail)
  const mails = await mailTo(tenant.ownerEmail)
  return /token=([\w-]+)/.exec(mails.at(-1)!.text)![1]!
}

const newTenant = () => harness.createTenant({ name: 'Forgetful', plan: 'professional', currency: 'USD' })
const confirm = (token: string, status: number, newPassword = 'a new and better one') =>
  scenario({ as: null, post: '/v1/password-resets/confirm', body: { token, password: newPassword }, status })

describe('a new password', () => {
  it('is set with the mailed link, once, and ends every session', async () => {
    const tenant = await newTenant()
    const session = await harness.signIn(tenant.ownerEmail)
    const token = await mailedToken(tenant)
    const [mail] = await mailTo(tenant.ownerEmail)
    expect(mail).toMatchObject({ subject: 'Set a new password', html: expect.stringContaining(token) })
    expect(mail!.text).toContain(`https://api.test/account/reset-password?token=${token}`)
    await scenario({ as: session, get: '/v1/workspace', status: 200 })
    await confirm(token, 204)
    await scenario({ as: session, get: '/v1/workspace', status: 401 })
    const signIn = { as: null, post: '/v1/sessions' }
    await scenario({ ...signIn, body: { email: tenant.ownerEmail, password }, status: 401 })
    await scenario({
      ...signIn,
      body: { email: tenant.ownerEmail, password: 'a new and better one' },
      status: 201,
    })
    await confirm(token, 422)
  })

  it('is refused when too short, and the link stays valid', async () => {
    const token = await mailedToken(await newTenant())
    await confirm(token, 422, 'short')
    await confirm(token, 204)
  })

  it('cannot be set with a link that is unknown or an hour old', async () => {
    const token = await mailedToken(await newTenant())
    await confirm(`${token}x`, 422)
    harness.clock.advance(3_600_000)
    await confirm(token, 422)
  })

  it('is asked for in the same words by people we do not know', async () => {
    const known = await ask((await newTenant()).ownerEmail)
    const unknown = await ask('nobody@example.com')
    expect(unknown.text).toBe(known.text)
    expect(await mailTo('nobody@example.com')).toEqual([])
  })

  it('is not mailed again and again', async () => {
    const tenant = await newTenant()
    for (let i = 0; i < 6; i++) await ask(tenant.ownerEmail)
    expect((await mailTo(tenant.ownerEmail)).length).toBeLessThanOrEqual(3)
  })

  it('can be set in a browser', async () => {
    harness.clock.advance(7_200_000)
    const tenant = await newTenant()
    const browser = new Browser(harness.server())
    expect((await browser.go('/account/forgot-password')).html).toContain('<form')
    expect((await browser.go('/account/forgot-password', { email: 'no address' })).status).toBe(422)
    const sent = await browser.go('/account/forgot-password', { email: tenant.ownerEmail })
    expect(sent.html).toContain('Look into your mailbox')
    const token = /token=([\w-]+)/.exec((await mailTo(tenant.ownerEmail))[0]!.text)![1]!
    expect((await browser.go(`/account/reset-password?token=${token}`)).html).toContain(token)
    expect((await browser.go('/account/reset-password', { token, password: 'short' })).status).toBe(422)
    const done = await browser.go('/account/reset-password', { token, password: 'long enough now' })
    expect(done.html).toContain('is set')
    expect((await browser.go('/account/reset-password', { token, password: 'long enough now' })).status).toBe(
      422,
    )
  })

  it('is shown no script that came with the link', async () => {
    const attack = encodeURIComponent('"><script>alert(1)</script>')
    const { html } = await new Browser(harness.server()).go(`/account/reset-password?token=${attack}`)
    expect(html).not.toContain('<script')
  })
})
