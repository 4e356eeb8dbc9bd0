import { isIP, type LookupFunction } from 'node:net'
import { blockListOf, isForbidden } from '../kernel/networks.ts'
import type { Address, Resolve } from './resolve.ts'

/** The address of a webhook leads somewhere it must not. */
export class ForbiddenTarget extends Error {}

export interface Targets {
  /** The end of a sentence about the URL; undefined when it may be used, as far as that can be told now. */
  refusal(url: string): Promise<string | undefined>
  /** Throws where the host of a URL is itself a forbidden address: for those, no name is looked up. */
  requireOpen(hostname: string): void
  /** Looks a name up and vets what comes back. The connection goes to that very address, whatever DNS says a moment later. */
  lookup: LookupFunction
}

const forbidden = 'leads to a loopback, private or reserved address, which is not allowed.'
const saveTimeoutMs = 2_000

export function createTargets(allowedNetworks: readonly string[], resolve: Resolve): Targets {
  const allowed = blockListOf(allowedNetworks)

  // One bad address among several is refused as a whole: nobody has a good reason for such a name.
  const vetted = async (hostname: string): Promise<Address[]> => {
    const found = await resolve(hostname)
    if (found.length === 0)
      throw Object.assign(new Error('no address'), { code: 'ENOTFOUND', syscall: 'query' })
    if (found.some(({ address }) => isForbidden(address, allowed))) throw new ForbiddenTarget(forbidden)
    return found
  }
  const requireOpen = (hostname: string) => {
    const literal = withoutBrackets(hostname)
    if (isIP(literal) !== 0 && isForbidden(literal, allowed)) throw new ForbiddenTarget(forbidden)
  }

  return {
    requireOpen,
    async refusal(url) {
      if (!URL.canParse(url)) return 'must be an absolute http or https URL.'
      const { username, password, hostname } = new URL(url)
      if (username || password) return 'must not hold a user name or password.'
      try {
        requireOpen(hostname)
        if (isIP(withoutBrackets(hostname)) === 0) await inTime(vetted(hostname), saveTimeoutMs)
      } catch (error) {
        // A name that does not resolve now may do so later; it is vetted again at every connection.
        if (error instanceof ForbiddenTarget) return error.message
      }
      return undefined
    },
    lookup: (hostname, options, callback) => {
      vetted(hostname).then(
        (found) =>
          options.all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family),
        (error) => callback(error, []),
      )
    },
  }
}

const withoutBrackets = (hostname: string) => hostname.replace(/^\[(.*)\]$/, '$1')

async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), ms)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}
