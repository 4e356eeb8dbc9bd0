import type { IncomingHttpHeaders } from 'node:http'
import type { Environment, Principal } from './context.ts'
import type { Credentials } from './credentials.ts'
import { ApiError, forbidden, unauthorized } from './errors.ts'
import { isId } from './ids.ts'

export interface Hosts {
  production: string
  sandbox: string
}

export interface Entrance {
  credentials: Credentials
  environment: Environment
  hosts: Hosts
}

/** Who asks. Whoever is refused with a valid credential is still known, so that the refusal counts for them. */
export interface Caller {
  principal: Principal | undefined
  refusal: ApiError | undefined
}

/** The checks every request passes before it is anybody, in their order. */
export async function authenticate(entrance: Entrance, headers: IncomingHttpHeaders): Promise<Caller> {
  let principal: Principal | undefined
  try {
    const token = readToken(headers.authorization)
    refuseOtherEnvironment(entrance, token)
    principal = await entrance.credentials.find(token)
    if (!principal)
      throw unauthorized('The token is invalid, expired or revoked. Check that it was copied whole.')
    principal = await selectWorkspace(entrance, principal, headers['x-workspace-id'])
    requireApiAccess(principal)
    return { principal, refusal: undefined }
  } catch (error) {
    if (error instanceof ApiError) return { principal, refusal: error }
    throw error
  }
}

export const isBasic = (headers: IncomingHttpHeaders) => /^basic /i.test(headers.authorization ?? '')

function readToken(authorization: string | undefined): string {
  if (!authorization)
    throw unauthorized('Send your API key or access token as "Authorization: Bearer <token>".')
  const [, scheme, value] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? []
  if (!scheme || !value) throw unauthorized('The Authorization header must read "Bearer <token>".')
  return scheme.toLowerCase() === 'bearer' ? value : basicUser(value)
}

/** Deprecated: the key as the user name of Basic authentication. */
function basicUser(encoded: string): string {
  const [user] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return user ?? ''
}

const keyEnvironments: Record<string, Environment> = { pb_live_: 'production', pb_test_: 'sandbox' }

// Told before any look-up: the prefix alone shows the mistake, and the answer reveals nothing about the key.
function refuseOtherEnvironment({ environment, hosts }: Entrance, token: string): void {
  const kind = token.slice(0, 8)
  const belongsTo = keyEnvironments[kind]
  if (!belongsTo || belongsTo === environment) return
  throw forbidden(`Keys that start with ${kind} work on the ${belongsTo} host only: use ${hosts[belongsTo]}.`)
}

// One sentence for every way this can fail, so that workspace ids can't be probed.
async function selectWorkspace(
  { credentials, environment }: Entrance,
  principal: Principal,
  header: string | string[] | undefined,
): Promise<Principal> {
  if (header === undefined || header === principal.workspace.id) {
    if (principal.workspace.environment === environment) return principal
    throw forbidden(
      `This token belongs to a ${principal.workspace.environment} workspace and does not work on the ${environment} host.`,
    )
  }
  const other =
    typeof header === 'string' && isId('ws', header)
      ? await credentials.inWorkspace(principal, header)
      : undefined
  if (!other || other.workspace.environment !== environment) {
    throw forbidden('X-Workspace-ID does not name a workspace that this credential can act in.')
  }
  return other
}

function requireApiAccess({ kind, workspace }: Principal): void {
  if (kind === 'session') return
  if (workspace.plan === 'starter') {
    throw forbidden(
      'The plan Starter has no API access. Upgrade the workspace to Professional or Enterprise.',
    )
  }
  if (!workspace.apiAccess) {
    throw forbidden(
      `API access is switched off for this workspace (plan ${workspace.plan}). An owner can switch it on.`,
    )
  }
}
