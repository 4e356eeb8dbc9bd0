import { scopes } from '../kernel/scopes.ts'
import { paths } from './provider.ts'

export const metadataPath = '/.well-known/oauth-authorization-server'

/** What a client library needs to know, in the words of RFC 8414. */
export const metadata = (authUrl: string) => ({
  issuer: authUrl,
  authorization_endpoint: authUrl + paths.authorize,
  token_endpoint: authUrl + paths.token,
  revocation_endpoint: authUrl + paths.revoke,
  scopes_supported: scopes,
  response_types_supported: ['code'],
  response_modes_supported: ['query', 'form_post', 'fragment'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic', 'none'],
  revocation_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic', 'none'],
  authorization_response_iss_parameter_supported: true,
  service_documentation: `${authUrl}/docs`,
})
