import type { Request } from 'express'
import ipaddr from 'ipaddr.js'
import type { Caller } from '../../core/clients/caller.ts'

/**
 * Where a request comes from, as limits count it: an IPv4 address, or the first 64 bits of an IPv6 one, which is what one
 * subscriber has. What `X-Forwarded-For` says is heard from the proxies of `TRUST_PROXY` only.
 */
export function clientIp({ ip = '' }: Pick<Request, 'ip'>): string {
  if (!ipaddr.isValid(ip)) return 'unknown'
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/64`)}/64`
}

/** The caller of a request that came without a secret. */
export function strangerOf(req: Pick<Request, 'ip'>): Caller {
  return { address: clientIp(req), isTrusted: false }
}

/** The caller of a request whose secret has been checked. */
export function trustedCallerOf(req: Pick<Request, 'ip'>): Caller {
  return { address: clientIp(req), isTrusted: true }
}
