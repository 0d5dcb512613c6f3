import type { RequestHandler } from 'express'
import type { Log } from '../../core/log.ts'

/**
 * Tells the operator, once, of a proxy in front that `TRUST_PROXY` does not name: limits by address take all callers behind
 * it for one. It may as well be a caller's own header, so nothing else follows from it.
 */
export function unnamedProxy({
  trustProxy,
  log,
}: {
  trustProxy: number | readonly string[]
  log: Log
}): RequestHandler {
  let isTold = trustProxy !== 0
  return (req, _res, next) => {
    if (!isTold && req.headers['x-forwarded-for'] !== undefined) {
      isTold = true
      log.warn(
        {},
        'a request has X-Forwarded-For, but TRUST_PROXY is not set: rate limits count all clients behind the proxy as one IP address',
      )
    }
    next()
  }
}
