import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

/** Something that webhooks are sent to: a real server that remembers what it got. */

export interface Received {
  at: number
  path: string
  headers: IncomingHttpHeaders
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: payloads of every shape
  json: any
}

export type Answering = (request: Received, response: ServerResponse) => void

export const answering =
  (status: number, body = '', headers: Record<string, string> = {}): Answering =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body)

/** Answers nothing until it is let go. */
export function holding(status = 200): { answer: Answering; letGo: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return {
    answer: (_request, response) => void promise.then(() => response.writeHead(status).end()),
    letGo: resolve,
  }
}

export class Receiver {
  readonly received: Received[] = []
  /** May be changed at any time. */
  answer: Answering
  readonly #server: Server

  private constructor(server: (listener: RequestListener) => Server, answer: Answering) {
    this.answer = answer
    this.#server = server((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk) => chunks.push(chunk))
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8')
        const { url = '', headers } = request
        const received = { at: performance.now(), path: url, headers, body, json: JSON.parse(body) }
        this.received.push(received)
        this.answer(received, response)
      })
    })
  }

  static async open(
    answer: Answering = answering(200, 'ok'),
    port = 0,
    server: (listener: RequestListener) => Server = createServer,
  ): Promise<Receiver> {
    const receiver = new Receiver(server, answer)
    await new Promise<void>((resume) => receiver.#server.listen(port, '127.0.0.1', resume))
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`
  }

  /** How often each event came. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { json } of this.received) counts.set(json.id, (counts.get(json.id) ?? 0) + 1)
    return counts
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resume) => this.#server.close(resume))
  }
}
