import { Agent, errors } from 'undici'
import type { Clock } from '../kernel/clock.ts'
import type { Attempt, Courier, Letter, Outcome } from '../kernel/courier.ts'
import { Exchange } from './exchange.ts'
import { type Fault, faultOf, refusalOf } from './fault.ts'
import { type Resolve, resolveName } from './resolve.ts'
import { payloadOf, signatureHeaders } from './sign.ts'
import { createTargets } from './target.ts'

export interface CourierOptions {
  clock: Clock
  /** For connecting, headers and body together. */
  timeoutMs: number
  /** CIDRs that may be sent to although they are private. */
  allowedNetworks: readonly string[]
  resolve?: Resolve
}

export interface OpenCourier extends Courier {
  close(): Promise<void>
}

// Below the five seconds after which Node's own servers close an idle connection.
const keepAliveMs = 4_000

export function createCourier({
  clock,
  timeoutMs,
  allowedNetworks,
  resolve = resolveName,
}: CourierOptions): OpenCourier {
  const targets = createTargets(allowedNetworks, resolve)
  const agent = new Agent({
    connect: { lookup: targets.lookup, timeout: timeoutMs },
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    // The exchange has one deadline of its own over all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
  })

  async function post(letter: Letter, now: Date): Promise<{ exchange: Exchange; stale?: Exchange }> {
    const payload = payloadOf(letter)
    const { origin, pathname, search } = new URL(letter.url)
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Plotbase-Webhooks/1',
      ...signatureHeaders(letter, payload, now),
    }
    const send = (exchange: Exchange) =>
      agent.dispatch({ origin, path: pathname + search, method: 'POST', headers, body: payload }, exchange)
    const startedAt = performance.now()
    const exchange = await once(timeoutMs, send)
    if (!wasStale(exchange, sizeOf(letter.url, headers, payload))) return { exchange }
    const again = await once(timeoutMs - (performance.now() - startedAt), send)
    return { exchange: again, stale: exchange }
  }

  return {
    refusal: targets.refusal,
    async deliver(letter) {
      const now = clock.now()
      const startedAt = performance.now()
      const { hostname } = new URL(letter.url)
      let exchange: Exchange
      let stale: Exchange | undefined
      try {
        targets.requireOpen(hostname)
        ;({ exchange, stale } = await post(letter, now))
      } catch (error) {
        exchange = new Exchange(() => {})
        exchange.error = error as Error
      }
      const fault = faultIn(exchange, timeoutMs, hostname)
      return {
        attempt: {
          timestamp: now.toISOString(),
          response_code: exchange.status,
          duration_ms: Math.round(performance.now() - startedAt),
          error: fault?.error ?? null,
          response_body: exchange.body,
        },
        earlier: stale ? [staleAttempt(now)] : [],
        result: fault?.result ?? 'delivered',
        retryAfterMs: fault ? retryAfterMs(exchange, now) : null,
      }
    },
    close: () => agent.destroy(),
  }
}

async function once(timeoutMs: number, dispatch: (exchange: Exchange) => void): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const exchange = new Exchange(resolve)
  const timer = setTimeout(() => exchange.expire(), timeoutMs)
  try {
    dispatch(exchange)
  } catch (error) {
    exchange.end(error as Error)
  }
  await promise
  clearTimeout(timer)
  return exchange
}

/**
 * An idle connection that the receiver closed at the very moment we used it again: no fault of the
 * receiver, so the event does not have to wait for its next attempt. On a connection of its own, all
 * that was written is this request.
 */
function wasStale({ error, phase }: Exchange, requestBytes: number): boolean {
  if (phase !== 'headers' || !(error instanceof errors.SocketError)) return false
  const { bytesRead = 0, bytesWritten = 0 } = error.socket ?? {}
  return bytesRead > 0 && bytesWritten > requestBytes
}

/** The most that a request can take on the wire. */
function sizeOf(url: string, headers: Record<string, string>, payload: string): number {
  const lines = Object.entries(headers).reduce(
    (sum, [name, value]) => sum + name.length + value.length + 4,
    0,
  )
  return Buffer.byteLength(payload) + Buffer.byteLength(url) + lines + 128
}

const staleAttempt = (now: Date): Attempt => ({
  timestamp: now.toISOString(),
  response_code: null,
  duration_ms: 0,
  error: 'The connection was closed before the answer came; it was sent again at once.',
  response_body: null,
})

function faultIn(exchange: Exchange, timeoutMs: number, hostname: string): Fault | undefined {
  const { error, phase, status } = exchange
  if (error) return faultOf(error, phase, timeoutMs, hostname)
  return status! >= 200 && status! < 300 ? undefined : refusalOf(status!)
}

/** Seconds or a date, on the answers that it belongs to. */
function retryAfterMs({ status, headers }: Exchange, now: Date): Outcome['retryAfterMs'] {
  const value = headers['retry-after']
  if ((status !== 429 && status !== 503) || !value) return null
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000
  const date = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime())
}
