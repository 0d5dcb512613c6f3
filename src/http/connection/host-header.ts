import type { RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'

/**
 * Refuses a request without a `Host` header, or with several: a proxy and this server could use different ones.
 *
 * @throws Problem 400
 * @see RFC 9112 section 3.2
 */
export const requireSingleHost: RequestHandler = ({ httpVersion, rawHeaders }, _res, next) => {
  // rawHeaders alternates names and values.
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return next()
  const detail = `expected one Host header but received ${hosts === 0 ? 'none' : hosts}`
  throw new Problem({ status: 400, code: 'bad_request', detail })
}
