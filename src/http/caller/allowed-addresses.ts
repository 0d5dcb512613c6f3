import type { Request, RequestHandler } from 'express'
import { type Cidr, isInRanges } from '../../core/net/ip-ranges.ts'
import { Problem } from '../../core/problem.ts'
import { withoutPort } from './client-ip.ts'

/** The IP ranges that may send requests of a kind. Undefined: all. */
export interface AllowedAddresses {
  /** Pages of the console, sign-in, and requests with a session of the console. */
  console: readonly Cidr[] | undefined
  /** Requests with a secret, or the token of an operator, in `Authorization`. */
  secrets: readonly Cidr[] | undefined
}

// As routers compare: a part of a path at its end, in any case.
const CONSOLE_PATH = /^\/(dashboard|v1\/session|v1\/sign-in)(?![^/?])/i

/**
 * Refuses requests of people and programs from other IP addresses, before their secrets are read. Deliveries and signed links need no
 * secret, and are not affected. Behind proxies, the address is that of the client, see `TRUST_PROXY`: without it, a request of a
 * proxy is refused, whose own address may be in a range.
 *
 * @throws Problem 403
 */
export function allowedAddresses(
  { console: people, secrets }: AllowedAddresses,
  { trustProxy }: { trustProxy: number | readonly string[] },
): RequestHandler {
  const isProxyNamed = trustProxy !== 0

  return (req, _res, next) => {
    if (people && isOfPeople(req)) check(req, people, { isProxyNamed })
    if (secrets && req.headers.authorization !== undefined) check(req, secrets, { isProxyNamed })
    next()
  }
}

/** Whether the request is for the console: by its path, or by the header without which no session counts. */
function isOfPeople({ path, headers }: Request): boolean {
  return CONSOLE_PATH.test(path) || headers['sluice-console'] !== undefined
}

function check(
  { ip = '', headers }: Request,
  ranges: readonly Cidr[],
  { isProxyNamed }: { isProxyNamed: boolean },
): void {
  const isAddressKnown = isProxyNamed || headers['x-forwarded-for'] === undefined
  if (isAddressKnown && isInRanges(withoutPort(ip), ranges)) return
  throw new Problem({
    status: 403,
    code: 'address_not_allowed',
    detail: isAddressKnown
      ? 'Requests of this kind are not allowed from your IP address.'
      : 'Your IP address is not known: the request has X-Forwarded-For, and TRUST_PROXY is not set.',
  })
}
