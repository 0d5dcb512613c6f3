import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'

/**
 * Refuses a request without a `Host` header, or with several: a proxy and this server could use different ones.
 *
 * @throws Problem 400
 * @see RFC 9112 section 3.2
 */
export const requireSingleHost: RequestHandler = (req, _res, next) => {
  if (hasSingleHost(req)) return next()
  const hosts = hostsOf(req)
  const detail = `expected one Host header but received ${hosts === 0 ? 'none' : hosts}`
  throw new Problem({ status: 400, code: 'bad_request', detail })
}

/** Whether a request has one `Host` header; none is valid before HTTP/1.1. */
export function hasSingleHost(req: Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'>): boolean {
  const hosts = hostsOf(req)
  return hosts === 1 || (hosts === 0 && req.httpVersion !== '1.1')
}

function hostsOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): number {
  let hosts = 0
  // Names and values alternate.
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts += 1
  return hosts
}
