import { isIP } from 'node:net'
import { namesHost } from '../../core/net/host-patterns.ts'
import { mayConnect, parseCidr, specialRange } from '../../core/net/ip-ranges.ts'
import type { FetchAccess } from '../../core/ports/fetcher.ts'
import { notAllowed, remoteFailed, remoteTimeout } from './refusals.ts'

/** Resolves a host name to all its IP addresses. Errors have a `code` as those of Node's `dns`. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Decides which URLs may be fetched. */
export interface Guard {
  /**
   * The only IP addresses to connect to. The name is resolved once and all addresses are checked, so a DNS answer that
   * changes between check and connection has no effect.
   *
   * @throws Problem 400 when the URL may not be fetched, 502 or 504 when its name cannot be resolved
   */
  addressesOf(url: URL, options: { redirected: boolean }): Promise<readonly string[]>
}

const PORTS = [80, 443]

/** Ports and addresses of all items of `access` are combined. A host must be allowed by each of them. */
export function createGuard(access: readonly FetchAccess[], resolve: Resolve): Guard {
  const ports = new Set([...PORTS, ...access.flatMap((each) => each.ports ?? [])])
  const allowed = access.flatMap((each) => each.addresses ?? []).map(parseCidr)

  return {
    async addressesOf(url, { redirected }) {
      const expect = (fits: boolean, expected: string) => {
        if (!fits) throw notAllowed(expected, { redirected })
      }
      expect(/^https?:$/.test(url.protocol), 'http or https')
      expect(url.username === '' && url.password === '', 'no user name and no password')
      expect(ports.has(portOf(url)), 'a port that may be fetched from')
      expect(
        access.every(({ allowHosts, denyHosts }) => {
          const denied = namesHost(denyHosts ?? [], url.hostname)
          return !denied && (allowHosts === undefined || namesHost(allowHosts, url.hostname))
        }),
        'a host that may be fetched from',
      )
      const host = url.hostname.replace(/^\[|\]$/g, '')
      const addresses = isIP(host) ? [host] : await resolved(host, resolve)
      // Addresses that are not public are left out. They are no error:
      // behind DNS64, every name has an additional NAT64 address.
      const checked = addresses.filter((address) => mayConnect(address, allowed))
      if (checked.length === 0)
        throw notAllowed('a host with a public address', {
          redirected,
          cause: new Error(whyNone(addresses)),
        })
      return checked
    },
  }
}

/** Why no address of a host may be connected to. Names the first three addresses. For the log only. */
function whyNone(addresses: readonly string[]): string {
  if (addresses.length === 0) return 'the host name does not exist or has no address'
  return addresses
    .slice(0, 3)
    .map((address) => `${address}: ${specialRange(address)}`)
    .join(', ')
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}

// A name that does not exist gets the same response as a private one.
// Otherwise callers could find the names of an internal network.
const NO_SUCH_NAME: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA'])

const TOO_SLOW: ReadonlySet<unknown> = new Set(['ETIMEOUT', 'ECANCELLED'])

async function resolved(host: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(host)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (NO_SUCH_NAME.has(code)) return []
    if (TOO_SLOW.has(code)) throw remoteTimeout(error)
    throw remoteFailed('has a host name that cannot be resolved', error)
  }
}
