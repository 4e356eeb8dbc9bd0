import type { Workspace } from '../context.ts'
import {
  addressWindow,
  type EndpointWindow,
  endpointLimits,
  endpointWindowMs,
  planLimits,
  planWindowMs,
  planWindows,
} from './plans.ts'

/** So many requests in so much time, counted for one workspace or address. Windows begin at multiples of their length. */
export interface Window {
  readonly name: string
  /** Whose window it is: the counters are kept by this. */
  readonly key: string
  /** Infinity where there is no limit: such windows are counted all the same. */
  readonly limit: number
  readonly lengthMs: number
}

/** Every window that one request has to fit. */
export interface Budget {
  /** Whose budget it is: a workspace id, or an address. */
  readonly owner: string
  readonly windows: readonly Window[]
  /** The window of a minute, which X-RateLimit-* describe: its place in `windows`. */
  readonly shown: number
  /** Its limit, as the header has it. */
  readonly limitShown: string
  /** The header RateLimit-Policy, which is the same every time. */
  readonly policy: string
}

function budgetOf(owner: string, windows: Window[]): Budget {
  const shown = windows.findIndex(({ name }) => name === 'minute' || name === addressWindow.name)
  const limited = windows.filter(({ limit }) => limit !== Infinity)
  return {
    owner,
    windows,
    shown,
    limitShown: String(windows[shown]!.limit),
    policy: limited
      .map(({ name, limit, lengthMs }) => `"${name}";q=${limit};w=${lengthMs / 1_000}`)
      .join(', '),
  }
}

// A workspace is a new object whenever something about it changed, so its budgets are made anew by themselves.
const made = new WeakMap<Workspace, Map<EndpointWindow | undefined, Budget>>()

export function workspaceBudget(workspace: Workspace, endpoint: EndpointWindow | undefined): Budget {
  const known = made.get(workspace)?.get(endpoint)
  if (known) return known
  const budget = makeWorkspaceBudget(workspace, endpoint)
  made.set(workspace, new Map(made.get(workspace)).set(endpoint, budget))
  return budget
}

function makeWorkspaceBudget(workspace: Workspace, endpoint: EndpointWindow | undefined): Budget {
  const { id, plan } = workspace
  const limits = { ...planLimits[plan], ...workspace.customLimits }
  const windows: Window[] = planWindows.map((name) => ({
    name,
    key: windowKey(id, name),
    limit: limits[name] ?? Infinity,
    lengthMs: planWindowMs[name],
  }))
  if (endpoint) {
    const limit = workspace.customLimits?.[endpoint] ?? endpointLimits[endpoint].limit
    windows.push({ name: endpoint, key: windowKey(id, endpoint), limit, lengthMs: endpointWindowMs })
  }
  return budgetOf(id, windows)
}

/** Redis keeps all keys with the same part in braces on one machine of a cluster. */
export const windowKey = (owner: string, name: string) => `{${owner}}:${name}`

export function addressBudget(ip: string, limit: number = addressWindow.limit): Budget {
  const owner = networkOf(ip)
  const { name, lengthMs } = addressWindow
  return budgetOf(owner, [{ name, key: windowKey(owner, name), limit, lengthMs }])
}

/** An IPv4 address as it is; of an IPv6 address the first 64 bits, since one customer has them all. */
export function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)
  if (mapped) return mapped[1]!
  const [head = '', tail] = ip.toLowerCase().split('%')[0]!.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail ? tail.split(':') : []
  const gap = tail === undefined ? 0 : 8 - before.length - after.length
  return `${[...before, ...Array(Math.max(0, gap)).fill('0'), ...after].slice(0, 4).join(':')}::/64`
}
