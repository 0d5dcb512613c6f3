import type { RequestListener } from 'node:http'
import type { RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'
import { stateOf } from '../request-state.ts'

/**
 * Replaces an absolute URL in the request line by its path. It runs before Express, which responds to URLs that it cannot parse
 * by itself, and whose parser prints some of them on stderr, perhaps with a secret.
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
 * Refuses the requests that {@link normalizeTarget} has marked. It runs later, when the request has an id and is logged.
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
  // The target of OPTIONS for the server itself.
  if (target === '*') return target
  // A fragment is invalid here, and Express would look for a host in front of it.
  if (target.startsWith('/')) return target.split('#', 1)[0]
  if (!/^https?:\/\//i.test(target) || !URL.canParse(target)) return undefined
  const { pathname, search } = new URL(target)
  return pathname + search
}
