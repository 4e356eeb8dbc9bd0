import { generateKeyPairSync } from 'node:crypto'
import Provider, {
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
} from 'oidc-provider'
import type { Logger } from 'pino'
import { findAccount } from '../features/accounts/people.ts'
import { isScope, scopes } from '../kernel/scopes.ts'
import { secretMatches } from './clients.ts'
import { isGrantAlive } from './grants.ts'
import { errorPage } from './pages/error.ts'
import { secureHeaders } from './pages/layout.ts'
import { lifetimes, type StoreDeps, storeFor } from './store.ts'

export interface OAuthDeps extends StoreDeps {
  log: Logger
  authUrl: string
  /** Called when somebody's access has ended, before the answer goes out. */
  forgetCredentials(): void
}

export const paths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  interaction: '/oauth/interaction',
  signOut: '/oauth/sign-out',
}

/** The authorization server: the library's protocol, our records, people and pages. */
export function createProvider(deps: OAuthDeps): Provider {
  const provider = new Provider(deps.authUrl, configurationFor(deps))
  provider.Client.prototype.compareClientSecret = function (this: { clientSecret?: string }, secret: string) {
    return secretMatches(this.clientSecret, secret)
  }
  // The protocol of AUTH_URL is told to the library in a header, so that cookies are secure behind a proxy.
  provider.proxy = true
  const on = (event: string, work: (...args: never[]) => void) => provider.on(event as never, work as never)
  on('access_token.destroyed', () => deps.forgetCredentials())
  on('grant.revoked', () => deps.forgetCredentials())
  on('server_error', (_ctx: unknown, error: Error) =>
    deps.log.error({ err: error }, 'an OAuth request failed'),
  )
  on('error', (error: Error) => deps.log.error({ err: error }, 'an OAuth request failed'))
  return provider
}

function configurationFor({ sql, clock, secrets }: OAuthDeps): Configuration {
  return {
    adapter: storeFor({ sql, clock, secrets }),
    scopes,
    claims: {},
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_post', 'client_secret_basic', 'none'],
    pkce: { required: (_ctx, client) => client.clientAuthMethod === 'none' },
    ttl: lifetimes,
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    expiresWithSession: async () => false,
    allowOmittingSingleRegisteredRedirectUri: false,
    clientBasedCORS: () => true,
    routes: {
      authorization: paths.authorize,
      token: paths.token,
      revocation: paths.revoke,
      end_session: paths.signOut,
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
    },
    interactions: {
      policy: policy(),
      url: (_ctx, interaction) => `${paths.interaction}/${interaction.uid}`,
    },
    // Every consent is for one workspace and stands alone, so none is remembered for the next time.
    loadExistingGrant: async (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId
      return grantId ? ctx.oidc.provider.Grant.find(grantId) : undefined
    },
    findAccount: async (_ctx, accountId, token) => {
      const grantId = (token as { grantId?: string } | undefined)?.grantId
      if (grantId && !(await isGrantAlive(sql, grantId, accountId))) return undefined
      const account = await findAccount(sql, accountId)
      return account && { accountId, claims: async () => ({ sub: accountId }) }
    },
    renderError: (ctx, out) => {
      ctx.type = 'html'
      ctx.set(secureHeaders())
      ctx.body = errorPage(out.error_description ?? out.error)
    },
    cookies: {
      names: {
        session: 'plotbase_oauth',
        interaction: 'plotbase_oauth_interaction',
        resume: 'plotbase_oauth_resume',
      },
      long: { httpOnly: true, sameSite: 'lax', signed: false },
      short: { httpOnly: true, sameSite: 'lax', signed: false },
    },
    // The library insists on a signing key, but we issue nothing that is signed.
    jwks: { keys: [generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
  } as Configuration
}

function policy() {
  const { base, Check } = interactionPolicy
  const prompts = base()
  const known = new Check('known_scopes', 'scopes must be known', (ctx) => requireKnownScopes(ctx))
  prompts.get('login')!.checks.add(known)
  return prompts
}

// The library has left out what it does not know by now, so this looks at what was sent: a mistyped scope
// would be noticed only when a call fails.
function requireKnownScopes(ctx: KoaContextWithOIDC): boolean {
  const wanted = String(ctx.query.scope ?? ctx.oidc.params?.scope ?? '')
    .split(' ')
    .filter(Boolean)
  if (wanted.length === 0) throw new errors.InvalidScope('scope must name at least one scope', '')
  const unknown = wanted.filter((scope) => !isScope(scope))
  if (unknown.length > 0)
    throw new errors.InvalidScope(`unknown scope: ${unknown.join(' ')}`, unknown.join(' '))
  return false
}
