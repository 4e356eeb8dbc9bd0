import postgres from 'postgres'
import type { Pool } from '../kernel/sql.ts'

export interface DatabaseAddress {
  /** A postgres:// address, or undefined for the embedded server's socket. */
  url?: string
  socket?: { host: string; port: number; user: string; database: string }
}

export interface PoolOptions {
  max?: number
  applicationName?: string
  onNotice?: (message: string) => void
}

/** `2026-01-31 09:30:00.5+00` → `2026-01-31T09:30:00.500Z`. Sessions run in UTC, so the offset is always +00. */
export function isoTimestamp(text: string): string {
  const time = text.slice(11, text.indexOf('+', 11))
  const [clock, fraction = ''] = time.split('.')
  return `${text.slice(0, 10)}T${clock}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}

// Amounts have at most 15 significant digits, so a number holds each exactly.
const types = {
  numeric: { to: 1700, from: [1700], serialize: String, parse: Number },
  bigint: { to: 20, from: [20], serialize: String, parse: Number },
  date: { to: 1082, from: [1082], serialize: (value: string) => value, parse: (text: string) => text },
  timestamp: {
    to: 1184,
    from: [1184],
    // The day after the last of year 9999 is `+010000-01-01` here and `10000-01-01` there.
    serialize: (value: Date | string) =>
      value instanceof Date ? value.toISOString().replace(/^\+0/, '') : value,
    parse: isoTimestamp,
  },
}

export function connect(address: DatabaseAddress, options: PoolOptions = {}): Pool {
  const settings = {
    max: options.max ?? 10,
    // Wait shortly for a server that restarts; a request must not hang on it for longer.
    connect_timeout: 5,
    // The driver's own pause between attempts grows to 20 s after a restart, and requests wait in it.
    backoff: 0.25,
    types,
    onnotice: (notice: { message?: string }) => options.onNotice?.(notice.message ?? ''),
    connection: { TimeZone: 'UTC', application_name: options.applicationName ?? 'plotbase' },
  }
  const socket = address.socket ?? socketIn(address.url!)
  const pool = socket
    ? postgres({ ...socket, ssl: false, ...settings } as never)
    : postgres(address.url!, settings as never)
  return pool as unknown as Pool
}

/** `postgres:///sales?host=/run/postgresql&user=plotbase`: a Unix socket in the form that libpq has for it. */
export function socketIn(url: string): (DatabaseAddress['socket'] & { password?: string }) | undefined {
  const { searchParams, pathname, username, password, port } = new URL(url)
  const host = searchParams.get('host')
  if (!host?.startsWith('/')) return undefined
  return {
    host,
    port: Number(searchParams.get('port') ?? (port || 5432)),
    user: decodeURIComponent(username) || (searchParams.get('user') ?? 'postgres'),
    database: decodeURIComponent(pathname.slice(1)) || 'postgres',
    ...(password || searchParams.has('password')
      ? { password: decodeURIComponent(password) || searchParams.get('password')! }
      : {}),
  }
}
