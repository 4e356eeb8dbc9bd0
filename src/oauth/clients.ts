import { timingSafeEqual } from 'node:crypto'
import type { AdapterPayload } from 'oidc-provider'
import { hashToken } from '../kernel/credentials.ts'
import { isId } from '../kernel/ids.ts'
import type { Sql } from '../kernel/sql.ts'

/** A registered application as the library wants to see it. In place of its secret stands the hash. */
export async function findClient(sql: Sql, id: string): Promise<AdapterPayload | undefined> {
  if (!isId('oac', id)) return undefined
  const [row] = await sql`
    select id, name, redirect_uris, scopes, public, secret_hash from oauth_clients where id = ${id}`
  if (!row) return undefined
  return {
    client_id: row.id,
    client_name: row.name,
    redirect_uris: row.redirect_uris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: row.scopes.join(' '),
    ...(row.public
      ? { token_endpoint_auth_method: 'none' }
      : { token_endpoint_auth_method: 'client_secret_post', client_secret: row.secret_hash }),
  }
}

/** Takes the place of the library's own comparison, which would need the secret itself. */
export const secretMatches = (secretHash: string | undefined, secret: string): boolean =>
  secretHash !== undefined && timingSafeEqual(Buffer.from(hashToken(secret)), Buffer.from(secretHash))
