import type { RequestListener } from 'node:http'
import type { RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'
import { stateOf } from '../request-state.ts'

/**
 * Shows a handler only paths: of `http://host/path` what follows the host. It stands before Express, which answers by
 * itself what it cannot parse, and parses in a way that prints some addresses, with a secret perhaps, on stderr.
 *
 * @see RFC 9112 section 3.2
 */
export function normalizeTarget(handle: RequestListener): RequestListener {
  return (req, res) => {
    const path = pathOf(req.url ?? '')
    if (path === undefined) stateOf(req).hasBadTarget = true
    req.url = path ?? '/'
    handle(req, res)
  }
}

/**
 * Refuses what {@link normalizeTarget} has found to be no address, once there is an id to refuse it with.
 *
 * @throws Problem 400
 */
export const rejectBadTarget: RequestHandler = (req, _res, next) => {
  if (!stateOf(req).hasBadTarget) return next()
  throw new Problem({
    status: 400,
    code: 'bad_request',
    detail: 'expected a path, or a URL that starts with http:// or https://, in the request line',
  })
}

function pathOf(target: string): string | undefined {
  // OPTIONS asks so for the server itself.
  if (target === '*') return target
  // There should be no fragment, and Express would look for a host before one.
  if (target.startsWith('/')) return target.split('#', 1)[0]
  if (!/^https?:\/\//i.test(target) || !URL.canParse(target)) return undefined
  const { pathname, search } = new URL(target)
  return pathname + search
}
