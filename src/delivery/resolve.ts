import { lookup, Resolver } from 'node:dns/promises'

export interface Address {
  address: string
  family: 4 | 6
}

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<Address[]>

// The system's own look-up runs on two threads in all, so two names whose servers are silent would hold
// up every other receiver. This one asks over sockets of its own, and gives up before a delivery does.
const resolver = new Resolver({ timeout: 1_500, tries: 2 })

const notInDns = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EREFUSED'])

export const resolveName: Resolve = async (hostname) => {
  const name = hostname.replace(/\.$/, '')
  if (!name.includes('.')) return systemLookup(name)
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = [...addresses(ipv4, 4), ...addresses(ipv6, 6)]
  if (found.length > 0) return found
  const { reason } = ipv4 as PromiseRejectedResult
  // The hosts file and search domains are known to the system alone.
  if (notInDns.has(reason.code)) return systemLookup(name)
  throw reason
}

const systemLookup = async (name: string) => (await lookup(name, { all: true })) as Address[]

const addresses = (answer: PromiseSettledResult<string[]>, family: 4 | 6): Address[] =>
  answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []
