import { Router } from 'express'
import { z } from 'zod'
import type { Limits } from '../core/ports/rate-limiter.ts'
import type { AdminSessions } from '../service/admin-sessions.ts'
import { checkedBody } from './checked-body.ts'
import { jsonBody } from './json-body.ts'
import { methodNotAllowed } from './problem.ts'
import { takePoints } from './rate-limit.ts'

interface Dependencies {
  adminSessions: AdminSessions
  limits: Limits
  /** Of a body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// A password has 256 characters.
const BODY_MAX_BYTES = 4096

const signIn = z.strictObject({ password: z.string('a string') }, 'an object of password')

/** `POST /v1/sign-in`: the operator's password for a token, which `/v1/clients` wants. */
export function signInRoutes({ adminSessions, limits, minBytesPerSecond }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.post('/v1/sign-in', async (req, res) => {
    // Before anything is compared, and whatever was sent: a limit that a right guess passes is none.
    await takePoints(req, res, { limits, limited: 'sign_in' })
    const body = await jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond })
    const { password } = checkedBody(signIn, body, { secret: ['password'] })
    const { token, expiresAt } = adminSessions.signIn(password)
    res.setHeader('Cache-Control', 'no-store')
    res.json({ token, expiresAt: new Date(expiresAt).toISOString() })
  })
  routes.all('/v1/sign-in', methodNotAllowed('POST'))
  return routes
}
