import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { OutOfTime, type Phase } from './fault.ts'

const keptBytes = 4_096
// An answer up to here is read to its end, so that the connection can be used again; beyond, we hang up.
const readBytes = 65_536

/**
 * One request and its answer, below undici's own promises: it knows how far it has come, keeps the
 * first 4 KiB of the answer and no more, and can be ended at any moment. Half the cost of request().
 */
export class Exchange implements Dispatcher.DispatchHandler {
  phase: Phase = 'connect'
  status: number | null = null
  headers: IncomingHttpHeaders = {}
  error: Error | undefined
  readonly #done: () => void
  readonly #kept: Buffer[] = []
  #read = 0
  #settled = false
  #controller: Dispatcher.DispatchController | undefined

  constructor(done: () => void) {
    this.#done = done
  }

  /** The start of the answer, as text that JSON and PostgreSQL can hold. */
  get body(): string | null {
    if (this.status === null) return null
    return Buffer.concat(this.#kept).subarray(0, keptBytes).toString('utf8').replaceAll('\0', '\ufffd')
  }

  end(error: Error): void {
    this.#settle(error)
    this.#controller?.abort(error)
  }

  expire(): void {
    this.end(new OutOfTime())
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The connection came up after the time was over: nothing may be sent any more.
    if (this.#settled) controller.abort(new OutOfTime())
    this.#controller = controller
    this.phase = 'headers'
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    // 100 and 103 come before the answer itself.
    if (status < 200) return
    this.status = status
    this.headers = headers
    this.phase = 'body'
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#read < keptBytes) this.#kept.push(chunk.subarray(0, keptBytes - this.#read))
    this.#read += chunk.length
    if (this.#read <= readBytes) return
    this.#settle()
    controller.abort(new Error('enough read'))
  }

  onResponseEnd(): void {
    this.#settle()
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#settle(error)
  }

  #settle(error?: Error): void {
    if (this.#settled) return
    this.#settled = true
    this.error = error
    this.#done()
  }
}
