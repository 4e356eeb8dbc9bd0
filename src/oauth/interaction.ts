import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type Provider from 'oidc-provider'
import { errors, type InteractionResults } from 'oidc-provider'
import { type Membership, membershipsOf } from '../features/accounts/memberships.ts'
import { findAccount } from '../features/accounts/people.ts'
import { checkPassword } from '../features/accounts/sign-in.ts'
import { isOwnOrigin } from '../kernel/authenticate.ts'
import { ApiError } from '../kernel/errors.ts'
import { isEmail } from '../kernel/formats.ts'
import { isScope, type Scope } from '../kernel/scopes.ts'
import { asSeenBy, readForm } from './bridge.ts'
import { bindGrant } from './grants.ts'
import { consentPage } from './pages/consent.ts'
import { errorPage } from './pages/error.ts'
import { secureHeaders } from './pages/layout.ts'
import { signInPage } from './pages/sign-in.ts'
import { type OAuthDeps, paths } from './provider.ts'

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>

interface Visit {
  provider: Provider
  deps: OAuthDeps
  request: FastifyRequest
  reply: FastifyReply
  interaction: Interaction
}

/** The two questions that a person is asked between /oauth/authorize and the way back: who are you, and do you agree. */
export function serveInteractions(app: FastifyInstance, provider: Provider, deps: OAuthDeps): void {
  const visit = (answer: (visit: Visit) => Promise<FastifyReply>) => {
    return async (request: FastifyRequest, reply: FastifyReply) => {
      try {
        const interaction = await provider.interactionDetails(asSeenBy(provider, request), reply.raw)
        return await answer({ provider, deps, request, reply, interaction })
      } catch (error) {
        if (!(error instanceof errors.SessionNotFound)) throw error
        const message = 'This sign-in has expired, or it was begun in another browser.'
        return reply.code(400).headers(secureHeaders()).type('text/html').send(errorPage(message))
      }
    }
  }
  app.get(`${paths.interaction}/:uid`, visit(ask))
  app.post(`${paths.interaction}/:uid`, visit(answered))
}

const ask = (visit: Visit): Promise<FastifyReply> =>
  visit.interaction.prompt.name === 'login' ? askWho(visit) : askConsent(visit)

async function answered(visit: Visit): Promise<FastifyReply> {
  const { deps, request, interaction } = visit
  if (request.headers.origin !== undefined && !isOwnOrigin(request.headers, deps.authUrl))
    throw new errors.SessionNotFound('the form was sent by another site')
  const form = readForm(request)
  switch (form.get('action')) {
    case 'cancel':
      return finish(visit, { error: 'access_denied', error_description: 'the person did not agree' })
    case 'switch':
      return switchAccount(visit)
    default:
      return interaction.prompt.name === 'login' ? signIn(visit, form) : consent(visit, form)
  }
}

async function askWho(visit: Visit, problem?: string, status = 200): Promise<FastifyReply> {
  const client = await visit.provider.Client.find(String(visit.interaction.params.client_id))
  const email = readForm(visit.request).get('email')
  return show(
    visit,
    signInPage({ application: nameOf(client), ...(email && { email }), ...(problem && { problem }) }),
    status,
  )
}

async function signIn(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const { deps, request } = visit
  const [email, password] = [form.get('email') ?? '', form.get('password') ?? '']
  try {
    const now = deps.clock.now()
    const account = isEmail(email)
      ? await checkPassword(deps.sql, { email, password, address: request.ip }, now)
      : undefined
    if (!account) return askWho(visit, 'The e-mail address or the password is wrong.', 401)
    return finish(visit, { login: { accountId: account.id, remember: false } })
  } catch (error) {
    if (error instanceof ApiError) return askWho(visit, error.message, error.status)
    throw error
  }
}

async function askConsent(visit: Visit, problem?: string, status = 200): Promise<FastifyReply> {
  const { provider, deps, interaction } = visit
  const accountId = interaction.session!.accountId
  const [client, person, workspaces] = await Promise.all([
    provider.Client.find(String(interaction.params.client_id)),
    findAccount(deps.sql, accountId),
    openWorkspaces(deps, accountId),
  ])
  const body = consentPage({
    application: nameOf(client),
    destination: new URL(String(interaction.params.redirect_uri)).host,
    person: person!,
    scopes: scopesOf(interaction),
    workspaces,
    ...(problem && { problem }),
  })
  return show(visit, body, status)
}

async function consent(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const { provider, deps, interaction } = visit
  const accountId = interaction.session!.accountId
  const workspaces = await openWorkspaces(deps, accountId)
  const chosen = workspaces.find((member) => member.workspaceId === form.get('workspace_id'))
  if (form.get('action') !== 'allow' || !chosen) return askConsent(visit, 'Choose a workspace.', 422)
  const grant = new provider.Grant({ accountId, clientId: String(interaction.params.client_id) })
  grant.addOIDCScope(scopesOf(interaction).join(' '))
  const grantId = await grant.save()
  await bindGrant(deps.sql, grantId, chosen.workspaceId)
  return finish(visit, { consent: { grantId } })
}

/** Forgets who is signed in here and begins again with the same request. */
async function switchAccount({ provider, interaction, reply }: Visit): Promise<FastifyReply> {
  const session = interaction.session?.uid && (await provider.Session.findByUid(interaction.session.uid))
  if (session) await session.destroy()
  const params = Object.entries(interaction.params).filter(([, value]) => typeof value === 'string')
  return reply.redirect(`${paths.authorize}?${new URLSearchParams(params as [string, string][])}`, 303)
}

async function finish(
  { provider, request, reply }: Visit,
  result: InteractionResults,
): Promise<FastifyReply> {
  const back = await provider.interactionResult(asSeenBy(provider, request), reply.raw, result)
  // Relative, so that it works under every name this host is reached by.
  return reply.redirect(new URL(back).pathname, 303)
}

/** Where a token would be of use: on plans and workspaces with API access. */
const openWorkspaces = async ({ sql }: OAuthDeps, accountId: string): Promise<Membership[]> =>
  (await membershipsOf(sql, accountId)).filter((member) => member.apiAccess && member.plan !== 'starter')

const scopesOf = ({ params }: Interaction): Scope[] => String(params.scope).split(' ').filter(isScope)

const nameOf = (client: { clientName?: string | undefined } | undefined) =>
  client?.clientName ?? 'An application'

const show = ({ reply, interaction }: Visit, body: string, status: number): FastifyReply =>
  reply
    .code(status)
    .headers(secureHeaders(new URL(String(interaction.params.redirect_uri)).origin))
    .type('text/html; charset=utf-8')
    .send(body)
