import type { IncomingHttpHeaders } from 'node:http'
import type { Environment, Principal, Urls } from './context.ts'
import { sessionCookie } from './cookie.ts'
import type { Credentials } from './credentials.ts'
import { ApiError, forbidden, unauthorized } from './errors.ts'
import { isId } from './ids.ts'

export interface Entrance {
  credentials: Credentials
  environment: Environment
  urls: Urls
  /** Told of every credential that got in: as it is at home, and as it acts now. */
  noteUse?(home: Principal, acting: Principal): void
}

/** Who asks. Whoever is refused with a valid credential is still known, so that the refusal counts for them. */
export interface Caller {
  principal: Principal | undefined
  refusal: ApiError | undefined
}

/** The checks every request passes before it is anybody, in their order. */
export async function authenticate(
  entrance: Entrance,
  headers: IncomingHttpHeaders,
  method: string,
): Promise<Caller> {
  let principal: Principal | undefined
  try {
    const token = readToken(headers.authorization) ?? readCookie(entrance, headers, method)
    refuseOtherEnvironment(entrance, token)
    const found = await entrance.credentials.find(token, entrance.environment)
    if (!found)
      throw unauthorized('The token is invalid, expired or revoked. Check that it was copied whole.')
    principal = found
    principal = await selectWorkspace(entrance, found, headers['x-workspace-id'])
    requireApiAccess(principal)
    entrance.noteUse?.(found, principal)
    return { principal, refusal: undefined }
  } catch (error) {
    if (error instanceof ApiError) return { principal, refusal: error }
    throw error
  }
}

export const isBasic = (headers: IncomingHttpHeaders) => /^basic /i.test(headers.authorization ?? '')

function readToken(authorization: string | undefined): string | undefined {
  if (!authorization) return undefined
  const [, scheme, value] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? []
  if (!scheme || !value) throw unauthorized('The Authorization header must read "Bearer <token>".')
  return scheme.toLowerCase() === 'bearer' ? value : basicUser(value)
}

/** Deprecated: the key as the user name of Basic authentication. */
function basicUser(encoded: string): string {
  const [user] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return user ?? ''
}

/** A browser sends the cookie by itself, so a write must also come from a page of ours. */
function readCookie(entrance: Entrance, headers: IncomingHttpHeaders, method: string): string {
  const token = sessionCookie(headers.cookie)
  if (!token) throw unauthorized('Send your API key or access token as "Authorization: Bearer <token>".')
  const isWrite = method !== 'GET' && method !== 'HEAD'
  if (isWrite && !isOwnOrigin(headers, entrance.urls[entrance.environment])) {
    throw forbidden('A session cookie is accepted for changes from our own pages only. Send a bearer token.')
  }
  return token
}

/** Whether the page that sent the request was served by this host. */
export function isOwnOrigin({ origin, host }: IncomingHttpHeaders, url: string): boolean {
  if (!origin || !URL.canParse(origin)) return false
  const [page, own] = [new URL(origin), new URL(url)]
  // The address in the configuration, or the one that the browser itself used, such as localhost.
  return origin === own.origin || (page.host === host && page.protocol === own.protocol)
}

const keyEnvironments: Record<string, Environment> = { pb_live_: 'production', pb_test_: 'sandbox' }

// Told before any look-up: the prefix alone shows the mistake, and the answer reveals nothing about the key.
function refuseOtherEnvironment({ environment, urls }: Entrance, token: string): void {
  const kind = token.slice(0, 8)
  const belongsTo = keyEnvironments[kind]
  if (!belongsTo || belongsTo === environment) return
  throw forbidden(`Keys that start with ${kind} work on the ${belongsTo} host only: use ${urls[belongsTo]}.`)
}

// One sentence for every way this can fail, so that workspace ids can't be probed.
async function selectWorkspace(
  { credentials, environment, urls }: Entrance,
  principal: Principal,
  header: string | string[] | undefined,
): Promise<Principal> {
  const { workspace } = principal
  if (header === undefined || header === workspace.id) {
    if (workspace.environment === environment) return principal
    throw forbidden(
      `This token belongs to a ${workspace.environment} workspace: use ${urls[workspace.environment]}.`,
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
