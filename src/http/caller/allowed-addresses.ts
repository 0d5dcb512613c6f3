import type { Request, RequestHandler } from 'express'
import { type Cidr, isInRanges } from '../../core/net/ip-ranges.ts'
import { Problem } from '../../core/problem.ts'

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
 * secret, and are not affected. Behind proxies, the address is that of the client, see `TRUST_PROXY`.
 *
 * @throws Problem 403
 */
export function allowedAddresses({ console: people, secrets }: AllowedAddresses): RequestHandler {
  return (req, _res, next) => {
    if (people && isOfPeople(req)) check(req, people)
    if (secrets && req.headers.authorization !== undefined) check(req, secrets)
    next()
  }
}

/** Whether the request is for the console: by its path, or by the header without which no session counts. */
function isOfPeople({ path, headers }: Request): boolean {
  return CONSOLE_PATH.test(path) || headers['sluice-console'] !== undefined
}

function check({ ip = '' }: Request, ranges: readonly Cidr[]): void {
  if (isInRanges(ip, ranges)) return
  throw new Problem({
    status: 403,
    code: 'address_not_allowed',
    detail: 'Requests of this kind are not allowed from your IP address.',
  })
}
