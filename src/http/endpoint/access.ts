import type { Request } from 'express'
import { checkEverywhere, type Grant } from '../../core/clients/grant.ts'
import type { Action } from '../../core/clients/secret-scope.ts'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { MemberSession } from '../../service/members/sessions.ts'
import { callerBySecret } from '../caller/caller.ts'
import { checkOperator } from '../caller/operator.ts'
import { signedInMember } from '../console/console-session.ts'
import { checkNotCrossSite } from '../console/sign-in-limit.ts'
import type { DocumentedAccess, ProblemName, SecretAccess } from '../documents/endpoint.ts'
import { stateOf } from '../request-state.ts'

/**
 * What a request has to prove before its handler is called, and so what the handler gets as `caller`:
 *
 * - `secret`, `operatorOrSecret`: see {@link SecretAccess}
 * - `admin`: a session of the operator, or of an owner of the console
 * - `session`: the cookie of a session of the console
 * - `sameSite`: that no page of another site sends it
 * - `link`: its handler reads a link, which authorizes the request
 * - `public`: nothing
 */
export type Access = SecretAccess | 'admin' | 'session' | 'sameSite' | 'link' | 'public'

/** The sender of a request: the operator, without a client, or a client. */
export interface OperatorOrClient {
  client: Grant['client'] | undefined
}

/** What a handler gets as `caller`. */
export type CallerOf<A> = A extends { secret: Action }
  ? Grant
  : A extends { operatorOrSecret: Action }
    ? OperatorOrClient
    : A extends 'session'
      ? MemberSession
      : undefined

/** The last four are those of a member of the console, who sends `Sluice-Client` instead of a secret. */
export const SECRET_PROBLEMS: readonly ProblemName[] = [
  '401 unauthorized',
  '403 out_of_scope',
  '400 bad_parameter',
  '401 not_signed_in',
  '403 role_forbids',
  '404 client_not_found',
]
const ADMIN_PROBLEMS: readonly ProblemName[] = [
  '401 not_signed_in',
  '403 role_forbids',
  '403 sign_in_off',
  '429 rate_limited',
]

/** The access as the API document describes it. */
export function documentedAccess(access: Access): DocumentedAccess {
  return access === 'sameSite' ? 'public' : access
}

/** The problems of requests that do not prove it. */
export function problemsOfAccess(access: Access): readonly ProblemName[] {
  if (access === 'public' || access === 'link') return []
  if (access === 'sameSite') return ['403 cross_site']
  if (access === 'session') return ['401 not_signed_in', '403 cross_site']
  if (access === 'admin') return ADMIN_PROBLEMS
  return 'secret' in access ? SECRET_PROBLEMS : [...SECRET_PROBLEMS, '403 sign_in_off']
}

/** Checks what a request proves. @throws Problem 400, 401, 403, 404 */
export function callerOf(
  access: Access,
  req: Request,
  { clients, adminSessions }: { clients: Clients; adminSessions: Pick<AdminSessions, 'check'> },
): Grant | OperatorOrClient | MemberSession | undefined {
  if (access === 'public' || access === 'link') return undefined
  // Nor may a page of another site sign a visitor in as a member of its own.
  if (access === 'sameSite') return void checkNotCrossSite(req)
  if (access === 'session') {
    checkNotCrossSite(req)
    return signedInMember(req)
  }
  if (access === 'admin') return void checkOperator(req, adminSessions)
  if ('operatorOrSecret' in access && isOfOperator(req)) {
    checkOperator(req, adminSessions)
    return { client: undefined }
  }
  const grant = callerBySecret(req, clients, 'secret' in access ? access.secret : access.operatorOrSecret)
  if ('operatorOrSecret' in access || access.everywhere) checkEverywhere(grant)
  return grant
}

/** Whether a request is for all clients: with the token of the operator, or of the console without a client. */
function isOfOperator(req: Request): boolean {
  if (stateOf(req).console) return req.get('Sluice-Client') === undefined
  return /^Bearer +adm_/i.test(req.headers.authorization ?? '')
}
