import { isOwnOrigin } from '../../kernel/authenticate.ts'
import { setSessionCookie } from '../../kernel/cookie.ts'
import { bodyOf, type Endpoint, endpoint, noContent, ok, openEndpoint } from '../../kernel/endpoint.ts'
import { forbidden, unauthorized } from '../../kernel/errors.ts'
import { dataOf } from '../../kernel/schemas.ts'
import type { Sql } from '../../kernel/sql.ts'
import { membershipsOf } from '../accounts/memberships.ts'
import { type Account, findAccount } from '../accounts/people.ts'
import { checkPassword } from '../accounts/sign-in.ts'
import { deleteSession, insertSession, sessionExpiry, sessionSeconds } from './queries.ts'
import { newSessionSchema, sessionSchema, signInFields } from './schema.ts'

const path = '/v1/sessions'
const tag = 'Sessions'

async function shown(sql: Sql, { id, name, email }: Account, expiresAt: string) {
  const memberships = await membershipsOf(sql, id)
  return {
    expires_at: expiresAt,
    person: { id, name, email },
    workspaces: memberships.map((member) => ({
      id: member.workspaceId,
      name: member.name,
      environment: member.environment,
      plan: member.plan,
      role: member.role,
      agent_id: member.agentId,
    })),
  }
}

const onlySessions = 'This is for sessions. Keys are revoked at /v1/api-keys, OAuth tokens at /oauth/revoke.'

export const sessionRoutes: Endpoint[] = [
  openEndpoint({
    method: 'POST',
    path,
    operationId: 'createSession',
    tag,
    summary: 'Sign in',
    description:
      'Gives a token that is valid for 24 hours on both hosts and may do what the role of the person allows. Repeated failures are slowed down by account and by address.',
    body: bodyOf(signInFields),
    success: { status: 201, description: 'The session.', schema: dataOf(newSessionSchema) },
    errors: {
      UNAUTHORIZED: 'The e-mail address or the password is wrong.',
      RATE_LIMIT_EXCEEDED: 'Too many attempts. Try again in 30 seconds.',
    },
    handle: async ({ ctx, body, headers, address }) => {
      const now = ctx.clock.now()
      const account = await checkPassword(ctx.sql, { ...body, address }, now)
      if (!account) throw unauthorized('The e-mail address or the password is wrong.')
      const { token, expiresAt } = await insertSession(ctx.sql, account.id, now)
      const url = ctx.urls[ctx.environment]
      // Another site may sign in for itself, but must not sign our visitor in as somebody else.
      const fromUs = headers.origin === undefined || isOwnOrigin(headers, url)
      return {
        status: 201,
        data: { token, ...(await shown(ctx.sql, account, expiresAt.toISOString())) },
        headers: {
          location: `${path}/current`,
          'cache-control': 'no-store',
          ...(fromUs && { 'set-cookie': setSessionCookie(token, sessionSeconds, url) }),
        },
      }
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/current`,
    operationId: 'getCurrentSession',
    tag,
    summary: 'See who is signed in',
    scopes: 'any',
    success: { status: 200, description: 'The session.', schema: dataOf(sessionSchema) },
    errors: { FORBIDDEN: onlySessions },
    handle: async ({ ctx }) => {
      const { kind, accountId, credentialId } = ctx.principal
      if (kind !== 'session') throw forbidden(onlySessions)
      const [account, expiresAt] = await Promise.all([
        findAccount(ctx.sql, accountId!),
        sessionExpiry(ctx.sql, credentialId),
      ])
      if (!account || !expiresAt) throw unauthorized('The session has ended.')
      return ok(await shown(ctx.sql, account, expiresAt))
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/current`,
    operationId: 'deleteCurrentSession',
    tag,
    summary: 'Sign out',
    scopes: 'any',
    endsAccess: true,
    success: { status: 204, description: 'The token is of no use any more.' },
    errors: { FORBIDDEN: onlySessions },
    handle: async ({ ctx }) => {
      const { kind, credentialId } = ctx.principal
      if (kind !== 'session') throw forbidden(onlySessions)
      await deleteSession(ctx.sql, credentialId)
      return {
        ...noContent(),
        headers: { 'set-cookie': setSessionCookie(undefined, 0, ctx.urls[ctx.environment]) },
      }
    },
  }),
]
