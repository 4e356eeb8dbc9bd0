import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { connect, type DatabaseAddress } from '../src/infra/db.ts'
import { newId } from '../src/kernel/ids.ts'
import type { Pool } from '../src/kernel/sql.ts'
import * as statements from './statements.ts'

/**
 * What the product is compared with, each in a process of its own:
 * `fastify` runs the same single statement with the same driver and sends the rows as JSON, with no
 * authentication, validation, envelope, ETag, event, log or metric; `http` sends the same bytes and does nothing else.
 */
export interface BareSettings {
  address: DatabaseAddress
  workspaceId: string
}

// As Fastify's, so that connections stay open between the rounds.
const keepAliveMs = 72_000

function bareFastify({ address, workspaceId }: BareSettings) {
  const sql: Pool = connect(address)
  const app = Fastify()
  const listed = (rows: readonly object[]) => JSON.stringify({ data: rows })
  app.addHook('onRequest', async (_request, reply) => {
    reply.type('application/json; charset=utf-8')
  })
  app.get<ById>('/v1/properties/:id', async ({ params }) =>
    JSON.stringify((await statements.getProperty(sql, workspaceId, params.id))[0]),
  )
  app.get('/v1/properties', async () => listed(await statements.listProperties(sql, workspaceId)))
  app.get<ById>('/v1/units/:id', async ({ params }) =>
    JSON.stringify((await statements.getUnit(sql, workspaceId, params.id))[0]),
  )
  app.get<{ Querystring: { property_id?: string } }>('/v1/units', async ({ query }) =>
    listed(
      query.property_id
        ? await statements.listUnitsOf(sql, workspaceId, query.property_id)
        : await statements.listUnits(sql, workspaceId),
    ),
  )
  app.put<ById & { Body: { pricing: { max_price: number } } }>('/v1/properties/:id', async (request) => {
    const { params, body } = request
    const [row] = await statements.updateProperty(sql, workspaceId, params.id, body.pricing.max_price)
    return JSON.stringify(row)
  })
  app.put<ById & { Body: { price: { amount: number } } }>('/v1/units/:id', async ({ params, body }) =>
    JSON.stringify((await statements.updateUnit(sql, workspaceId, params.id, body.price.amount))[0]),
  )
  app.post<{ Body: statements.PropertyBody }>('/v1/properties', async ({ body }, reply) => {
    reply.code(201)
    const [row] = await statements.insertProperty(sql, workspaceId, newId('prop', new Date()), body)
    return JSON.stringify(row)
  })
  app.post<{ Body: statements.UnitBody }>('/v1/units', async ({ body }, reply) => {
    reply.code(201)
    const [row] = await statements.insertUnit(sql, workspaceId, newId('unit', new Date()), body)
    return JSON.stringify(row)
  })
  return app
}

interface ById {
  Params: { id: string }
}

/** Answers whatever is asked with the bytes it was told last. */
function bareHttp() {
  let answer = Buffer.alloc(0)
  process.on('message', (message: { answer: string }) => {
    answer = Buffer.from(message.answer)
  })
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      response.writeHead(200, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': answer.length,
      })
      response.end(answer)
    })
  })
  server.keepAliveTimeout = keepAliveMs
  return server
}

async function main(kind: string, settings: string | undefined): Promise<void> {
  if (kind === 'http') {
    const server = bareHttp()
    server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
    return
  }
  const app = bareFastify(JSON.parse(settings!))
  await app.listen({ host: '127.0.0.1', port: 0 })
  process.send!({ port: (app.server.address() as AddressInfo).port })
}

process.on('disconnect', () => process.exit())
await main(process.argv[2]!, process.argv[3])
