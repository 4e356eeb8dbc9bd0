import { Client } from 'undici'
import { connections, type LoadOrder, type LoadRequest, type LoadResult } from './load.ts'

/** Run by load.ts: keeps every connection busy with one request at a time, and counts. */

const clients = new Map<string, Client[]>()

function clientsFor(origin: string): Client[] {
  let known = clients.get(origin)
  if (!known) {
    known = Array.from({ length: connections }, () => new Client(origin, { pipelining: 1 }))
    clients.set(origin, known)
  }
  return known
}

/** The status of the answer, once its last byte is here; 0 when the connection failed. */
const ask = (client: Client, { method, path, body }: LoadRequest, headers: Record<string, string>) =>
  new Promise<number>((resolve) => {
    let status = 0
    client.dispatch(
      { method, path, headers, body: body ?? null },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, statusCode) => {
          status = statusCode
        },
        onResponseData: () => {},
        onResponseEnd: () => resolve(status),
        onResponseError: () => resolve(0),
      },
    )
  })

async function run({ origin, headers, requests, milliseconds }: LoadOrder): Promise<LoadResult> {
  const refused: Record<string, number> = {}
  let answered = 0
  const begin = performance.now()
  const end = begin + milliseconds
  await Promise.all(
    clientsFor(origin).map(async (client, connection) => {
      const own = requests[connection]!
      for (let next = 0; performance.now() < end; next++) {
        const status = await ask(client, own[next % own.length]!, headers)
        answered++
        if (status < 200 || status > 299) refused[status] = (refused[status] ?? 0) + 1
      }
    }),
  )
  return { requests: answered, seconds: (performance.now() - begin) / 1_000, refused }
}

process.on('message', async (order: LoadOrder) => process.send!(await run(order)))
process.on('disconnect', () => process.exit())
