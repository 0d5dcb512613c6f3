import type { Request, RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'
import { notSignedIn } from '../../service/members/member-problems.ts'
import type { MemberSession, Sessions } from '../../service/members/sessions.ts'
import { stateOf } from '../request-state.ts'
import { sessionCookie } from './cookie.ts'

/**
 * Finds the session of a request of the console, for the routes after it. The cookie counts only with the header
 * `Sluice-Console: 1`, which a page of another origin cannot send: it needs a preflight request, which CORS never
 * allows for this header. A request with a secret ignores the cookie.
 */
export function consoleSession({ sessions }: { sessions: Sessions }): RequestHandler {
  return (req, res, next) => {
    if (!isOfConsole(req)) return next()
    // A shared cache must not store what a cookie permits.
    res.setHeader('Cache-Control', 'private, no-store')
    const token = sessionCookie(req)
    const found = token === undefined ? undefined : sessions.find(token)
    const note = (session: MemberSession | undefined) => {
      stateOf(req).console = session ? { session } : {}
      next()
    }
    if (found instanceof Promise) found.then(note, next)
    else note(found)
  }
}

/** @see https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header */
const OWN_PAGES = [undefined, 'same-origin', 'none']

function isOfConsole({ headers }: Request): boolean {
  return (
    headers['sluice-console'] === '1' &&
    headers.authorization === undefined &&
    OWN_PAGES.includes(headers['sec-fetch-site'])
  )
}

/** The session of the member who sends the request. @throws Problem 401 */
export function signedInMember(req: Request): MemberSession {
  const session = stateOf(req).console?.session
  if (!session) throw notSignedIn()
  return session
}

/** 403: the role of the member does not permit the request. */
export function roleForbids(detail: string): Problem {
  return new Problem({ status: 403, code: 'role_forbids', detail })
}
