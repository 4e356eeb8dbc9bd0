import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { createWebhook, deliveriesOf, schedule, useDelivering } from '../delivering.ts'
import { createProperty } from '../fixtures.ts'
import { useHarness } from '../harness.ts'
import { type Answering, answering, Receiver } from '../receiver.ts'
import { selfSigned } from './self-signed.ts'

const harness = useHarness()
const delivering = useDelivering(harness)
const opened: { close(): unknown }[] = []
afterAll(() => {
  for (const server of opened) server.close()
})

/** What becomes of an event for this URL, and that it comes back by the schedule. */
async function attemptTo(url: string, tries = 1) {
  await harness.sql`update webhooks set active = false`
  const { id } = await createWebhook(harness, url)
  await createProperty(harness)
  const startedAt = performance.now()
  await delivering.settle()
  const [delivery] = await deliveriesOf(harness, id)
  expect(delivery.attempts).toHaveLength(tries)
  return { ...delivery, webhookId: id, tookMs: performance.now() - startedAt }
}

const nextRetry = () => new Date(harness.clock.now().getTime() + schedule[0]!).toISOString()
const failedWith = (error: unknown, response_code: number | null = null) => ({
  status: 'failed',
  error,
  response_code,
  next_retry: nextRetry(),
})

/** A server below HTTP. */
async function rawServer(onConnection: (socket: Socket) => void): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => {})
    onConnection(socket)
  })
  opened.push(server)
  await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const answeredBy = async (answer: Answering) => attemptTo((await delivering.receiver(answer)).url)

describe('a connection', () => {
  it('that is refused', async () => {
    const receiver = await Receiver.open()
    const { url } = receiver
    await receiver.close()
    expect(await attemptTo(url)).toMatchObject(failedWith('The connection was refused.'))
  })

  it('that is reset', async () => {
    const url = await rawServer((socket) => socket.once('data', () => socket.resetAndDestroy()))
    expect(await attemptTo(url)).toMatchObject(
      failedWith('The connection was reset while waiting for the answer.'),
    )
  })

  it('that is closed without an answer', async () => {
    const url = await rawServer((socket) => socket.once('data', () => socket.end()))
    expect(await attemptTo(url)).toMatchObject(
      failedWith('The connection was closed while waiting for the answer.'),
    )
  })

  it('that was kept and is closed when it is used again is made anew', async () => {
    let connections = 0
    const url = await rawServer((socket) => {
      connections++
      let requests = 0
      socket.on('data', (bytes) => {
        if (!bytes.toString().startsWith('POST')) return
        if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
        else socket.end()
      })
    })
    expect(await attemptTo(url)).toMatchObject({ status: 'delivered' })
    expect(await attemptTo(url, 2)).toMatchObject({
      status: 'delivered',
      attempts: [
        { response_code: null, error: expect.stringContaining('sent again') },
        { response_code: 200 },
      ],
    })
    expect(connections).toBe(2)
  })

  it.each([
    ['half a header', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['a first word', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ])('that is new and closed after %s is not made again', async (_what, bytes) => {
    let requests = 0
    const url = await rawServer((socket) =>
      socket.once('data', () => {
        requests++
        socket.end(bytes)
      }),
    )
    expect(await attemptTo(url)).toMatchObject({ status: 'failed', attempts: [{ response_code: null }] })
    expect(requests).toBe(1)
  })

  it('whose name does not resolve', async () => {
    const before = harness.resolve
    harness.resolve = async () => {
      throw Object.assign(new Error('no'), { code: 'ENOTFOUND', syscall: 'queryA' })
    }
    expect(await attemptTo('http://nowhere.example.com/')).toMatchObject(
      failedWith('The name nowhere.example.com could not be resolved (ENOTFOUND).'),
    )
    harness.resolve = before
  })

  it('to a certificate that nobody vouches for', async () => {
    const receiver = await Receiver.open(answering(200), 0, (listener) =>
      createSecureServer(selfSigned, listener),
    )
    opened.push(receiver)
    expect(await attemptTo(receiver.url.replace('http:', 'https:'))).toMatchObject(
      failedWith('The TLS connection could not be made (DEPTH_ZERO_SELF_SIGNED_CERT).'),
    )
    expect(receiver.received).toEqual([])
  })

  it('by TLS to something that speaks none', async () => {
    const { url } = await delivering.receiver()
    expect(await attemptTo(url.replace('http:', 'https:'))).toMatchObject(
      failedWith(expect.stringMatching(/^The TLS connection could not be made/)),
    )
  })

  it('that is answered with something else than HTTP', async () => {
    const url = await rawServer((socket) => socket.once('data', () => socket.end('220 mail.example.com\r\n')))
    expect(await attemptTo(url)).toMatchObject(failedWith(expect.stringMatching(/not valid HTTP/)))
  })
})

describe('a receiver that takes too long', () => {
  const inTime = { least: 900, most: 4_000 }
  const expectInTime = ({ tookMs }: { tookMs: number }) => {
    expect(tookMs).toBeGreaterThan(inTime.least)
    expect(tookMs).toBeLessThan(inTime.most)
  }

  it('to be found', async () => {
    const before = harness.resolve
    const { id } = await createWebhook(harness, 'http://silent.example.com/')
    harness.resolve = () => new Promise(() => {})
    await harness.sql`update webhooks set active = id = ${id}`
    await createProperty(harness)
    await delivering.settle()
    const [delivery] = await deliveriesOf(harness, id)
    expect(delivery).toMatchObject(failedWith('Timed out after 1 s while connecting.'))
    harness.resolve = before
  })

  it('to shake hands', async () => {
    const url = (await rawServer(() => {})).replace('http:', 'https:')
    const delivery = await attemptTo(url)
    expect(delivery).toMatchObject(failedWith('Timed out after 1 s while connecting.'))
    expectInTime(delivery)
  })

  it('to answer', async () => {
    const delivery = await answeredBy(() => {})
    expect(delivery).toMatchObject(failedWith('Timed out after 1 s while waiting for the answer.'))
    expectInTime(delivery)
  })

  it('to end its answer', async () => {
    const delivery = await answeredBy((_request, response) => {
      response.writeHead(200).write('one moment')
    })
    expect(delivery).toMatchObject(failedWith('Timed out after 1 s while reading the answer.', 200))
    expect(delivery.attempts[0].response_body).toBe('one moment')
    expectInTime(delivery)
  })

  it('because its answer drips', async () => {
    const delivery = await answeredBy((_request, response) => {
      response.writeHead(200)
      const dripping = setInterval(() => response.write('.'), 50)
      response.on('close', () => clearInterval(dripping))
    })
    expect(delivery).toMatchObject(failedWith('Timed out after 1 s while reading the answer.', 200))
    expectInTime(delivery)
  })

  it('because its headers drip', async () => {
    const url = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const dripping = setInterval(() => socket.write('x-a: b\r\n'), 50)
      socket.on('close', () => clearInterval(dripping))
    })
    const delivery = await attemptTo(url)
    expect(delivery).toMatchObject(failedWith('Timed out after 1 s while waiting for the answer.'))
    expectInTime(delivery)
  })
})

describe('an answer', () => {
  it('that breaks off', async () => {
    const delivery = await answeredBy((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('only this')
      setTimeout(() => response.destroy(), 20)
    })
    expect(delivery).toMatchObject(
      failedWith(
        expect.stringMatching(/^The connection was (closed|reset) while reading the answer\.$/),
        200,
      ),
    )
  })

  it('of a gigabyte is not read, and costs no memory', async () => {
    let sentBytes = 0
    const chunk = Buffer.alloc(1_048_576, 'x')
    const before = process.memoryUsage().rss
    const delivery = await answeredBy((_request, response) => {
      response.writeHead(200)
      const more = () => {
        while (sentBytes < 1_073_741_824 && !response.destroyed) {
          sentBytes += chunk.length
          if (!response.write(chunk)) return response.once('drain', more)
        }
        return response.end()
      }
      more()
    })
    expect(delivery).toMatchObject({ status: 'delivered', response_code: 200, error: null })
    expect(delivery.attempts[0].response_body).toBe('x'.repeat(4_096))
    expect(sentBytes).toBeLessThan(64 * 1_048_576)
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * 1_048_576)
  })

  it('is kept up to 4 KiB, whatever bytes it is made of', async () => {
    const bytes = Buffer.concat([Buffer.from([0, 255, 254]), Buffer.from('é'.repeat(4_000))])
    const delivery = await answeredBy((_request, response) => void response.writeHead(200).end(bytes))
    expect(delivery).toMatchObject({ status: 'delivered' })
    const { response_body } = delivery.attempts[0]
    expect(response_body.startsWith('\ufffd\ufffd\ufffdéé')).toBe(true)
    expect(response_body.length).toBeLessThanOrEqual(4_096)
  })

  it.each([200, 201, 202, 204, 299])('of %s is a success', async (status) => {
    expect(await answeredBy(answering(status))).toMatchObject({ status: 'delivered', response_code: status })
  })

  it('after 103 is the one that counts', async () => {
    const delivery = await answeredBy((_request, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' })
      response.writeHead(200).end('fine')
    })
    expect(delivery).toMatchObject({ status: 'delivered', response_code: 200 })
  })

  it.each([301, 302, 303, 307, 308])('of %s is not followed', async (status) => {
    const elsewhere = await delivering.receiver()
    const delivery = await answeredBy(answering(status, '', { location: elsewhere.url }))
    expect(delivery).toMatchObject(failedWith(`Answered ${status}: redirects are not followed.`, status))
    expect(elsewhere.received).toEqual([])
  })

  it.each([304, 400, 401, 404, 422, 429, 500, 502, 503])('of %s is a failure', async (status) => {
    expect(await answeredBy(answering(status, 'why'))).toMatchObject({
      ...failedWith(expect.stringContaining(`Answered ${status}`), status),
    })
  })

  it('of 410 is the last', async () => {
    const { webhookId, ...delivery } = await answeredBy(answering(410))
    expect(delivery).toMatchObject({ status: 'failed', response_code: 410, next_retry: null })
    await harness.scenario({ get: `/v1/webhooks/${webhookId}`, status: 200, match: { active: false } })
  })
})
