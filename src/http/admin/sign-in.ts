import { type Request, Router } from 'express'
import { z } from 'zod'
import { OPERATOR_ID } from '../../core/members/member.ts'
import { type AuditLog, REFUSED_SIGN_IN } from '../../core/ports/audit-log.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import type { KnownAddresses } from '../../service/admin/known-addresses.ts'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import { checkBodyType, jsonBody } from '../body/json.ts'
import { checkedBody } from '../body/parse.ts'
import { addOwnEntry } from '../console/audited-by.ts'
import { checkNotCrossSite, limitSignIn } from '../console/sign-in-limit.ts'
import { methodNotAllowed } from '../problem.ts'
import type { AdminSession } from '../wire/sign-in.ts'

interface Dependencies {
  adminSessions: AdminSessions
  audit: AuditLog
  knownAddresses: KnownAddresses
  limits: Limits
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// A password has at most 256 characters.
const BODY_MAX_BYTES = 4096

/** The password of the operator. */
export const signIn = z.strictObject(
  { password: z.string('a string').describe('The value of ADMIN_PASSWORD.') },
  'an object of password',
)

/** `POST /v1/sign-in`: exchanges the operator's password for a token, which `/v1/clients` requires. */
export function signInRoutes({
  adminSessions,
  audit,
  knownAddresses,
  limits,
  minBytesPerSecond,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })

  /** @throws Problem 401, 403 */
  function signedIn(req: Request, password: string) {
    try {
      return adminSessions.signIn(password)
    } catch (error) {
      if (error instanceof Problem && error.status === 401)
        addOwnEntry(req, { audit, action: REFUSED_SIGN_IN, member: undefined })
      throw error
    }
  }

  routes.post('/v1/sign-in', async (req, res) => {
    // A page of another site can make a visitor's browser send a form or plain text. It must not use up the attempts of
    // that visitor's IP address. JSON from another origin needs a preflight request, which is never allowed.
    checkNotCrossSite(req)
    checkBodyType(req)
    const admitted = await limitSignIn({ req, res }, undefined, { limits, knownAddresses })
    const body = await jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond })
    const { password } = checkedBody(signIn, body, { secret: ['password'] })
    const { token, expiresAt } = signedIn(req, password)
    await admitted.succeeded()
    addOwnEntry(req, { audit, action: 'session.sign-in', member: { id: OPERATOR_ID, name: OPERATOR_ID } })
    res.setHeader('Cache-Control', 'no-store')
    const session: AdminSession = { token, expiresAt: new Date(expiresAt).toISOString() }
    res.json(session)
  })
  routes.all('/v1/sign-in', methodNotAllowed('POST'))
  return routes
}
