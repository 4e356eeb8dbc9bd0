import type { FastifyInstance, FastifyReply } from 'fastify'
import { minPasswordLength } from '../features/accounts/people.ts'
import { confirmPasswordReset, requestPasswordReset, resetPath } from '../features/password-resets/service.ts'
import { ApiError } from '../kernel/errors.ts'
import { isEmail } from '../kernel/formats.ts'
import { readForm } from './bridge.ts'
import { secureHeaders } from './pages/layout.ts'
import { forgotPage, linkSentPage, newPasswordPage, passwordSetPage } from './pages/password.ts'
import type { OAuthDeps } from './provider.ts'

const forgotPath = '/account/forgot-password'

/** Setting a new password in a browser, as the link in the mail leads here. */
export function serveAccountPages(app: FastifyInstance, deps: OAuthDeps): void {
  const { sql, secrets, clock, authUrl } = deps
  app.get(forgotPath, async (_request, reply) => show(reply, forgotPage()))

  app.post(forgotPath, async (request, reply) => {
    const email = readForm(request).get('email') ?? ''
    if (!isEmail(email)) return show(reply, forgotPage('That is not an e-mail address.'), 422)
    try {
      await requestPasswordReset({ sql, secrets, now: clock.now(), authUrl }, { email, address: request.ip })
    } catch (error) {
      if (error instanceof ApiError) return show(reply, forgotPage(error.message), error.status)
      throw error
    }
    return show(reply, linkSentPage())
  })

  app.get(resetPath, async (request, reply) => {
    const { token } = request.query as { token?: unknown }
    return show(reply, newPasswordPage(typeof token === 'string' ? token : ''))
  })

  app.post(resetPath, async (request, reply) => {
    const form = readForm(request)
    const [token, password] = [form.get('token') ?? '', form.get('password') ?? '']
    if (password.length < minPasswordLength || password.length > 200)
      return show(reply, newPasswordPage(token, `Use ${minPasswordLength} to 200 characters.`), 422)
    const done = await confirmPasswordReset({ sql, now: clock.now() }, { token, password })
    if (!done) return show(reply, forgotPage('The link was used or is too old. Ask for a new one.'), 422)
    deps.forgetCredentials()
    return show(reply, passwordSetPage())
  })
}

const show = (reply: FastifyReply, body: string, status = 200): FastifyReply =>
  reply.code(status).headers(secureHeaders()).type('text/html; charset=utf-8').send(body)
