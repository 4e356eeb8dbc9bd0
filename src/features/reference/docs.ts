import Fastify, { type FastifyInstance } from 'fastify'

/** The interactive reference at /docs: served whole from this process, so that it works offline. */
export function serveDocs(app: FastifyInstance, document: object): void {
  app.get('/openapi.json', { logLevel: 'warn' }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(JSON.stringify(document)),
  )
  for (const path of ['/docs', '/docs/*']) {
    app.get(path, { logLevel: 'warn' }, async (request, reply) => {
      const page = await (await reference(document)).inject({ url: request.url })
      return reply
        .code(page.statusCode)
        .headers({
          'content-type': page.headers['content-type'],
          ...(page.headers.location && { location: page.headers.location }),
        })
        .send(page.rawPayload)
    })
  }
}

let loaded: Promise<FastifyInstance> | undefined

// The viewer is 4 MB of script: loaded when somebody first looks, not at every start.
function reference(document: object): Promise<FastifyInstance> {
  loaded ??= (async () => {
    const { default: scalar } = await import('@scalar/fastify-api-reference')
    const inner = Fastify()
    await inner.register(scalar, {
      routePrefix: '/docs',
      configuration: {
        content: document,
        metaData: { title: 'Plotbase API' },
        withDefaultFonts: false,
        telemetry: false,
        // Both would send readers to services outside this installation.
        agent: { disabled: true },
        mcp: { disabled: true },
        hideClientButton: true,
        showDeveloperTools: 'never',
      },
    } as never)
    await inner.ready()
    return inner
  })()
  return loaded
}
