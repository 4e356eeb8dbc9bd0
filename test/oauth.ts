import { createHash, randomBytes } from 'node:crypto'
import { Browser } from './browser.ts'
import type { Harness, Tenant } from './harness.ts'
import { password } from './harness.ts'

/** An application and a person who allows it in: what most tests of OAuth begin with. */

export interface Client {
  client_id: string
  client_secret?: string
}

export const callback = 'https://app.example.com/callback'

export async function registerClient(harness: Harness, body: object = {}): Promise<Client> {
  const { data } = await harness.scenario({
    post: '/v1/oauth-clients',
    body: {
      name: 'Portal sync',
      redirect_uris: [callback],
      scopes: ['read:properties', 'write:leads'],
      ...body,
    },
    status: 201,
  })
  return data
}

export interface Authorization {
  client: Client
  tenant?: Tenant
  email?: string
  workspaceId?: string
  scope?: string
  verifier?: string
}

export const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')
export const newVerifier = () => randomBytes(32).toString('base64url')

export function authorizeUrl({ client, scope = 'read:properties', verifier }: Authorization): string {
  return `/oauth/authorize?${new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: callback,
    response_type: 'code',
    scope,
    state: 'a state',
    ...(verifier && { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }),
  })}`
}

/** Walks sign-in and consent, and gives back where the person is sent. */
export async function authorize(harness: Harness, authorization: Authorization): Promise<URL> {
  const tenant = authorization.tenant ?? harness.tenant
  const browser = new Browser(harness.server())
  const signIn = await browser.go(authorizeUrl(authorization))
  const consent = await browser.go(signIn.at, {
    email: authorization.email ?? tenant.ownerEmail,
    password,
    action: 'sign-in',
  })
  const back = await browser.go(consent.at, {
    workspace_id: authorization.workspaceId ?? tenant.production.id,
    action: 'allow',
  })
  return new URL(back.at, 'https://api.test')
}

export interface TokenAnswer {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
}

export async function postToken(
  harness: Harness,
  body: Record<string, string | undefined>,
  path = '/oauth/token',
): Promise<TokenAnswer> {
  const response = await harness.server().inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(body),
  })
  return {
    status: response.statusCode,
    headers: response.headers as Record<string, string>,
    body: response.body ? response.json() : undefined,
  }
}

export const exchange = (harness: Harness, client: Client, code: string, more: object = {}) =>
  postToken(harness, {
    grant_type: 'authorization_code',
    client_id: client.client_id,
    ...(client.client_secret && { client_secret: client.client_secret }),
    code,
    redirect_uri: callback,
    ...more,
  })

export const refresh = (harness: Harness, client: Client, refreshToken: string) =>
  postToken(harness, {
    grant_type: 'refresh_token',
    client_id: client.client_id,
    ...(client.client_secret && { client_secret: client.client_secret }),
    refresh_token: refreshToken,
  })

/** The whole flow: the answer of the token endpoint. */
export async function obtainTokens(
  harness: Harness,
  authorization: Authorization,
): Promise<TokenAnswer['body']> {
  const back = await authorize(harness, authorization)
  const { body } = await exchange(harness, authorization.client, back.searchParams.get('code')!, {
    ...(authorization.verifier && { code_verifier: authorization.verifier }),
  })
  return body
}
