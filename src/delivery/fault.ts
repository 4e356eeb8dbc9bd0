import { ForbiddenTarget } from './target.ts'

/** How far an exchange had come. */
export type Phase = 'connect' | 'headers' | 'body'

/** The time for the whole exchange was over. */
export class OutOfTime extends Error {}

export interface Fault {
  /** One word for metrics. */
  result: string
  /** What an integrator reads. */
  error: string
}

const doing: Record<Phase, string> = {
  connect: 'while connecting',
  headers: 'while waiting for the answer',
  body: 'while reading the answer',
}

/** What went wrong between us and the receiver. */
export function faultOf(error: Error, phase: Phase, timeoutMs: number, hostname: string): Fault {
  const { code = '', syscall = '' } = error as { code?: string; syscall?: string }
  if (error instanceof ForbiddenTarget) return { result: 'forbidden', error: `The URL ${error.message}` }
  if (error instanceof OutOfTime || code === 'UND_ERR_CONNECT_TIMEOUT') {
    return { result: 'timeout', error: `Timed out after ${timeoutMs / 1_000} s ${doing[phase]}.` }
  }
  if (/^(query|getaddrinfo)/.test(syscall))
    return { result: 'dns', error: `The name ${hostname} could not be resolved (${code}).` }
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH)/.test(code))
    return { result: 'tls', error: `The TLS connection could not be made (${code}).` }
  if (code === 'ECONNREFUSED') return { result: 'connection', error: 'The connection was refused.' }
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH')
    return { result: 'connection', error: `The receiver cannot be reached (${code}).` }
  if (error.name === 'HTTPParserError') return { result: 'protocol', error: 'The answer was not valid HTTP.' }
  if (/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|ECONNABORTED|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)/.test(code)) {
    const how = code === 'ECONNRESET' ? 'was reset' : 'was closed'
    return { result: 'connection', error: `The connection ${how} ${doing[phase]}.` }
  }
  return { result: 'other', error: `The request failed ${doing[phase]} (${code || error.name}).` }
}

/** An answer other than 2xx. */
export function refusalOf(status: number): Fault {
  const result = `${Math.floor(status / 100)}xx`
  if (status >= 300 && status < 400)
    return { result, error: `Answered ${status}: redirects are not followed.` }
  if (status === 410) return { result, error: 'Answered 410: the receiver is gone for good.' }
  return { result, error: `Answered ${status}.` }
}
