import { bodyOf, type Endpoint, noContent, openEndpoint } from '../../kernel/endpoint.ts'
import { invalidField } from '../../kernel/errors.ts'
import { email, text } from '../../kernel/fields.ts'
import { dataOf } from '../../kernel/schemas.ts'
import { newPassword } from '../accounts/people.ts'
import { confirmPasswordReset, requestPasswordReset } from './service.ts'

const path = '/v1/password-resets'
const tag = 'Sessions'

export const passwordResetRoutes: Endpoint[] = [
  openEndpoint({
    method: 'POST',
    path,
    operationId: 'requestPasswordReset',
    tag,
    summary: 'Ask for a new password',
    description:
      'Mails a link that works once, for one hour. The answer is the same whether there is such a person or not.',
    body: bodyOf({ email: email({ required: true, example: 'olivia@example.com' }) }),
    success: {
      status: 202,
      description: 'The mail is on its way, if there is anybody to send it to.',
      schema: dataOf({
        type: 'object',
        properties: { accepted: { const: true } },
        required: ['accepted'],
      }),
    },
    handle: async ({ ctx, body, address }) => {
      const { sql, secrets, clock, urls } = ctx
      await requestPasswordReset(
        { sql, secrets, now: clock.now(), authUrl: urls.auth },
        { email: body.email, address },
      )
      return { status: 202, data: { accepted: true } }
    },
  }),
  openEndpoint({
    method: 'POST',
    path: `${path}/confirm`,
    operationId: 'confirmPasswordReset',
    tag,
    summary: 'Set a new password',
    description: 'Takes the token of the mailed link, once, and ends every session of the person.',
    endsAccess: true,
    body: bodyOf({
      token: text({ required: true, description: 'From the link.', example: 'kX3…' }),
      password: newPassword({ required: true, example: 'correct horse battery staple' }),
    }),
    success: { status: 204, description: 'The new password is set.' },
    handle: async ({ ctx, body }) => {
      const done = await confirmPasswordReset({ sql: ctx.sql, now: ctx.clock.now() }, body)
      if (!done) throw invalidField('token', 'is unknown, used or too old. Ask for a new link.')
      return noContent()
    },
  }),
]
