import type { CredentialKind } from '../../kernel/credentials.ts'
import type { Sql } from '../../kernel/sql.ts'
import { findKey } from './queries.ts'
import { isMistyped, keyPrefixes } from './token.ts'

/** API keys as a way in. `exempt` holds the hashes of keys that were given by the operator. */
export const apiKeyCredentials = (sql: Sql, exempt: ReadonlySet<string>): CredentialKind => ({
  recognises: (token) => Object.values(keyPrefixes).some((prefix) => token.startsWith(prefix)),
  find: async (token, tokenHash) => {
    if (isMistyped(token) && !exempt.has(tokenHash)) return undefined
    return findKey(sql, tokenHash)
  },
})
