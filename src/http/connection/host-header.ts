import type { RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'

/**
 * Refuses a request without a `Host`, or with several: two programs on its way could each go by another one.
 *
 * @throws Problem 400
 * @see RFC 9112 section 3.2
 */
export const requireSingleHost: RequestHandler = ({ httpVersion, rawHeaders }, _res, next) => {
  // Names and values in turn.
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return next()
  const detail = `expected one Host header but received ${hosts === 0 ? 'none' : hosts}`
  throw new Problem({ status: 400, code: 'bad_request', detail })
}
