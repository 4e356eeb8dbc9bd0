import { BlockList, isIP } from 'node:net'

/*
 * Which addresses a webhook may lead to. A subscriber picks the URL, so without this our own
 * network could be read and written through it.
 */

// IANA's special-purpose registry: all that is not reachable, or not meant to be reached, from everywhere.
const reservedIpv4 = blockListOf([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
])

// Of IPv6 only 2000::/3 is given out to the world, and these parts of it are not: tunnels that hide
// an IPv4 address (Teredo, 6to4), protocol assignments, documentation.
const globalIpv6 = blockListOf(['2000::/3'])
const reservedIpv6 = blockListOf(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

export function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address, bits] = network.split('/')
    list.addSubnet(address!, Number(bits), familyOf(address!))
  }
  return list
}

function familyOf(address: string) {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/** `10.0.0.0/8` or `fd00::/8`; one address alone means itself. Undefined for anything else. */
export function asNetwork(text: string): string | undefined {
  const [address, bits, ...rest] = text.trim().split('/')
  const family = isIP(address!)
  if (family === 0 || rest.length > 0 || address!.includes('%')) return undefined
  const most = family === 6 ? 128 : 32
  if (bits === undefined) return `${address}/${most}`
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? `${address}/${bits}` : undefined
}

/** Whether an address must not be connected to. IPv6 forms that stand for an IPv4 address are judged as that. */
export function isForbidden(address: string, allowed: BlockList): boolean {
  const family = isIP(address)
  if (family === 0 || address.includes('%')) return true
  const plain = family === 6 ? (embeddedIpv4(address) ?? address) : address
  if (allowed.check(plain, familyOf(plain))) return false
  if (isIP(plain) === 4) return reservedIpv4.check(plain, 'ipv4')
  return !globalIpv6.check(plain, 'ipv6') || reservedIpv6.check(plain, 'ipv6')
}

/** The IPv4 address inside `::ffff:a.b.c.d` (mapped) or `64:ff9b::a.b.c.d` (NAT64). */
function embeddedIpv4(address: string): string | undefined {
  const groups = groupsOf(address)
  const prefix = groups.slice(0, 6).join(':')
  if (prefix !== '0:0:0:0:0:ffff' && prefix !== '64:ff9b:0:0:0:0') return undefined
  const [high, low] = groups.slice(6).map((group) => Number.parseInt(group, 16))
  return [high! >> 8, high! & 255, low! >> 8, low! & 255].join('.')
}

/** The eight groups, without leading zeros; the URL parser brings every spelling to one form. */
function groupsOf(address: string): string[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [left = '', right] = canonical.split('::')
  const before = left === '' ? [] : left.split(':')
  if (right === undefined) return before
  const after = right === '' ? [] : right.split(':')
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
}
