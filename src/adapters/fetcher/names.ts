import { Resolver } from 'node:dns/promises'
import type { Resolve } from './guard.ts'
import { addressesInHosts, watchedText } from './hosts-file.ts'
import { namesToAsk } from './search-list.ts'

export interface NamesOptions {
  /** Name servers as `address:port`; those of the system when absent. */
  servers?: readonly string[]
  hostsFile?: string
  resolvConf?: string
  /** Time limit of a lookup, for all its names and retries together. */
  limitMs?: number
  /** Maximum of concurrent lookups. Further lookups fail with `EBUSY`. */
  atOnce?: number
}

// Below connectMs, so that a lookup ends before its fetch frees its slot.
const LIMIT_MS = 4500
// A query is sent again after this time, and again after twice this time.
const TRY_MS = 1200
// Each lookup has a socket. Fetches and webhooks together have fewer slots. This limit is the second line of defense.
const AT_ONCE = 256
const UNKNOWN: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Resolves names by `/etc/hosts`, then DNS, on its own sockets. `dns.lookup` would use the few threads that libuv has for
 * lookups: name servers that do not answer would block them for minutes, also for Redis and S3. Fails with `ENOTFOUND`
 * for a name without address, `ETIMEOUT` or `ECANCELLED` after the time limit, and `EBUSY`.
 */
export function createNames({
  servers,
  hostsFile = '/etc/hosts',
  resolvConf = '/etc/resolv.conf',
  limitMs = LIMIT_MS,
  atOnce = AT_ONCE,
}: NamesOptions = {}): Resolve {
  const hosts = watchedText(hostsFile)
  const settings = watchedText(resolvConf)
  let underWay = 0

  async function ask(hostname: string): Promise<readonly string[]> {
    const resolver = new Resolver({ timeout: TRY_MS, tries: 2 })
    if (servers) resolver.setServers(servers)
    let isOver = false
    const limit = setTimeout(() => {
      isOver = true
      resolver.cancel()
    }, limitMs)
    try {
      for (const name of namesToAsk(await settings(), hostname)) {
        if (isOver) throw failure('ECANCELLED', hostname)
        const addresses = await addressesOf(resolver, name)
        if (addresses.length > 0) return addresses
      }
      throw failure('ENOTFOUND', hostname)
    } finally {
      clearTimeout(limit)
    }
  }

  return async (hostname) => {
    const listed = addressesInHosts(await hosts(), hostname.replace(/\.$/, ''))
    if (listed.length > 0) return listed
    const special = reserved(hostname)
    if (special) return special
    if (underWay >= atOnce) throw failure('EBUSY', hostname)
    underWay += 1
    try {
      return await ask(hostname)
    } finally {
      underWay -= 1
    }
  }
}

/** IPv4 addresses before IPv6 addresses; empty for a name without addresses. */
async function addressesOf(resolver: Resolver, name: string): Promise<string[]> {
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  if (addresses.length > 0) return addresses
  const [failed] = found.flatMap((one) =>
    one.status === 'rejected' && !UNKNOWN.has(one.reason.code) ? [one.reason] : [],
  )
  if (failed !== undefined) throw failed
  return []
}

/** Reserved names, which are never sent to a name server. @see RFC 6761 sections 6.3 and 6.4 */
function reserved(hostname: string): readonly string[] | undefined {
  const top = hostname.toLowerCase().replace(/\.$/, '').split('.').at(-1)
  if (top === 'localhost') return ['127.0.0.1', '::1']
  if (top === 'invalid') throw failure('ENOTFOUND', hostname)
  return undefined
}

function failure(code: string, hostname: string): Error {
  return Object.assign(new Error(`lookup of ${hostname}: ${code}`), { code })
}
