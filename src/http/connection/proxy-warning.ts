import type { RequestHandler } from 'express'
import type { Log } from '../../core/log.ts'

/**
 * Warns the operator once about a proxy that `TRUST_PROXY` does not name: rate limits by IP address count all callers behind it
 * as one. The header may also have been sent by a caller, so it has no other effect.
 */
export function unnamedProxy({
  trustProxy,
  log,
}: {
  trustProxy: number | readonly string[]
  log: Log
}): RequestHandler {
  let isLogged = trustProxy !== 0
  return (req, _res, next) => {
    if (!isLogged && req.headers['x-forwarded-for'] !== undefined) {
      isLogged = true
      log.warn(
        {},
        'a request has X-Forwarded-For, but TRUST_PROXY is not set: rate limits count all callers behind the proxy as one IP address',
      )
    }
    next()
  }
}
