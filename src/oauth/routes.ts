import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorAnswer } from '../kernel/envelope.ts'
import { ApiError } from '../kernel/errors.ts'
import { serveAccountPages } from './account-pages.ts'
import { answerBy, readParams } from './bridge.ts'
import { serveInteractions } from './interaction.ts'
import { metadata, metadataPath } from './metadata.ts'
import { createProvider, type OAuthDeps, paths } from './provider.ts'

/** The authorization endpoints and their pages, with bodies and errors as RFC 6749 has them. */
export function serveOAuth(app: FastifyInstance, deps: OAuthDeps): void {
  const provider = createProvider(deps)
  app.register(async (scope) => {
    acceptForms(scope)
    scope.setErrorHandler(answerError)
    scope.get(metadataPath, async () => metadata(deps.authUrl))
    for (const path of [paths.authorize, `${paths.authorize}/:uid`])
      scope.get(path, async (request, reply) => answerBy(provider, request, reply))
    for (const path of [paths.token, paths.revoke, `${paths.signOut}/confirm`]) {
      scope.post(path, async (request, reply) => {
        const params = readParams(request.body)
        if (!params)
          throw new ApiError('BAD_REQUEST', 'send parameters as a form or as a JSON object of texts')
        return answerBy(provider, request, reply, params)
      })
      scope.route({
        method: ['GET', 'PUT', 'PATCH', 'DELETE'],
        url: path,
        exposeHeadRoute: false,
        handler: async () => {
          throw new ApiError('METHOD_NOT_ALLOWED', 'use POST', { headers: { allow: 'POST' } })
        },
      })
    }
    serveInteractions(scope, provider, deps)
    serveAccountPages(scope, deps)
  })
}

function acceptForms(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    /^application\/x-www-form-urlencoded(;|$)/,
    { parseAs: 'string', bodyLimit: 65_536 },
    async (_request: FastifyRequest, body: string | Buffer) => new URLSearchParams(String(body)),
  )
}

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = (error as unknown as { status?: number }).status ?? error.statusCode ?? 500
  if (status >= 500) request.log.error({ err: error }, 'request failed')
  const headers = error instanceof ApiError ? errorAnswer(error).headers : {}
  return reply
    .code(status)
    .headers({ ...headers, 'cache-control': 'no-store' })
    .send({
      error: status >= 500 ? 'server_error' : status === 429 ? 'temporarily_unavailable' : 'invalid_request',
      ...(status < 500 && { error_description: error.message }),
    })
}
