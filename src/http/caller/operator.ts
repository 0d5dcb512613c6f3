import type { Request, RequestHandler } from 'express'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import { notSignedIn } from '../../service/members/member-problems.ts'
import { roleForbids } from '../console/console-session.ts'
import { stateOf } from '../request-state.ts'

/**
 * Checks that an operator sends the request: with the token of `POST /v1/sign-in`, or as an owner in the console.
 *
 * @throws Problem 401, 403
 */
export function checkOperator(req: Request, adminSessions: Pick<AdminSessions, 'check'>): void {
  const { console: own } = stateOf(req)
  if (!own) adminSessions.check(req.headers.authorization)
  else if (!own.session) throw notSignedIn()
  else if (own.session.member.role !== 'owner') throw roleForbids('Only owners may do this.')
}

/** Refuses all requests below a path, of routes that do not exist as well, unless an operator sends them. */
export function operatorOnly({
  adminSessions,
}: {
  adminSessions: Pick<AdminSessions, 'check'>
}): RequestHandler {
  return (req, _res, next) => {
    checkOperator(req, adminSessions)
    next()
  }
}
