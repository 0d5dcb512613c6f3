import { isIPv4 } from 'node:net'
import type { Request } from 'express'
import ipaddr from 'ipaddr.js'
import type { Caller } from '../../core/clients/caller.ts'

/**
 * The client IP address of a request, as limits count it: an IPv4 address, or the first 64 bits of an IPv6 address, which one
 * subscriber has for itself. `X-Forwarded-For` is used only if the request comes from a proxy that `TRUST_PROXY` names.
 */
export function clientIp({ ip = '' }: Pick<Request, 'ip'>): string {
  // Most addresses, without the parser: every request is counted by its address.
  if (isIPv4(ip)) return ip
  const plain = withoutPort(ip)
  if (!ipaddr.isValid(plain)) return 'unknown'
  const address = ipaddr.process(plain)
  if (address.kind() === 'ipv4') return address.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/64`)}/64`
}

// As proxies write them: 192.0.2.1:47011, [2001:db8::1]:47011, [2001:db8::1].
const WITH_PORT = /^(?:\[(?<six>[^\]]+)\](?::\d+)?|(?<four>\d+(?:\.\d+){3}):\d+)$/

/** An IP address without the port that some proxies add in `X-Forwarded-For`, such as Azure Application Gateway. */
export function withoutPort(ip: string): string {
  const { six, four } = WITH_PORT.exec(ip)?.groups ?? {}
  return six ?? four ?? ip
}

/** The caller of a request that came without a secret. */
export function anonymousCallerOf(req: Pick<Request, 'ip'>): Caller {
  return { address: clientIp(req), isTrusted: false }
}

/** The caller of a request whose secret has been checked. */
export function trustedCallerOf(req: Pick<Request, 'ip'>): Caller {
  return { address: clientIp(req), isTrusted: true }
}
