import { type Request, type Response, Router } from 'express'
import type { Client } from '../../core/clients/client.ts'
import { type AuditLog, REFUSED_SIGN_IN } from '../../core/ports/audit-log.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import type { KnownAddresses } from '../../service/admin/known-addresses.ts'
import type { LastSeen } from '../../service/members/last-seen.ts'
import type { MemberSession, NewSession, Sessions } from '../../service/members/sessions.ts'
import type { SignIn } from '../../service/members/sign-in.ts'
import { checkBodyType, jsonBody } from '../body/json.ts'
import { methodNotAllowed } from '../problem.ts'
import { checkNames, flagOf, queryPairs } from '../request.ts'
import { linkToWire, sessionToWire } from '../wire/members.ts'
import { addOwnEntry } from './audited-by.ts'
import { signedInMember } from './console-session.ts'
import { clearSessionCookie, setSessionCookie } from './cookie.ts'
import { readLinkToken, readLinkUse, readNewSession, readSessionChange } from './member-request.ts'
import { checkNotCrossSite, limitSignIn } from './sign-in-limit.ts'

export interface SessionDependencies {
  sessions: Sessions
  signIn: SignIn
  lastSeen: LastSeen
  audit: AuditLog
  /** Whether there is a member who can sign in. */
  isSetUp: () => boolean
  listClients: () => readonly Client[]
  knownAddresses: KnownAddresses
  limits: Limits
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// The longest email address, name and passwords, with every character escaped.
const BODY_MAX_BYTES = 8192

/** `/v1/session`: sign-in to the console and sign-out; `/v1/session/link`: links by which a person chooses a password. */
export function sessionRoutes(dependencies: SessionDependencies): Router {
  const { sessions, signIn, lastSeen, audit, isSetUp, listClients, minBytesPerSecond } = dependencies
  const routes = Router({ strict: true, caseSensitive: true })
  const body = (req: Request) => jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond })

  const respond = (res: Response, session: MemberSession) =>
    res.json(sessionToWire(session, { clients: listClients(), isSetUp: isSetUp() }))

  const note = (req: Request, action: string, member: { id: string; name: string } | undefined) =>
    addOwnEntry(req, { audit, action, member })

  /** Responds with a new session. Its ID is always new: nobody can know the cookie of a session in advance. */
  function begin(req: Request, res: Response, session: NewSession): void {
    setSessionCookie({ req, res }, session)
    respond(res, session)
  }

  routes.use('/v1/session', (req, res, next) => {
    res.setHeader('Cache-Control', 'no-store')
    // Nor may a page of another site sign a visitor in as a member of its own.
    checkNotCrossSite(req)
    next()
  })

  routes.post('/v1/session', async (req, res) => {
    checkBodyType(req)
    const credentials = readNewSession(await body(req))
    const limit = await limitSignIn({ req, res }, credentials.email, dependencies)
    const session = await signIn.byPassword(credentials).catch((error) => {
      const tried = credentials.email === undefined ? undefined : signIn.memberOf(credentials.email)
      if (error instanceof Problem && error.status === 401) note(req, REFUSED_SIGN_IN, tried)
      throw error
    })
    await limit.succeeded()
    note(req, 'session.sign-in', session.member)
    begin(req, res, session)
  })

  routes.get('/v1/session', (req, res) => {
    const session = signedInMember(req)
    lastSeen.note(session.member.id)
    const renewed = sessions.renewed(session)
    if (renewed) begin(req, res, renewed)
    else respond(res, session)
  })

  routes.patch('/v1/session', async (req, res) => {
    const session = signedInMember(req)
    const changes = readSessionChange(await body(req))
    // A stolen session must not serve to guess the password.
    if (changes.newPassword) await limitSignIn({ req, res }, session.member.email, dependencies)
    const renewed = await signIn.changeOwn(session, changes)
    note(req, changes.newPassword ? 'session.change-password' : 'session.rename', session.member)
    if (renewed) return begin(req, res, renewed)
    respond(res, { ...session, member: { ...session.member, name: changes.name ?? session.member.name } })
  })

  routes.delete('/v1/session', async (req, res) => {
    const session = signedInMember(req)
    const query = queryPairs(req)
    checkNames(query, ['everywhere'])
    const isEverywhere = flagOf(query, 'everywhere')
    await (isEverywhere ? sessions.endAll(session.member.id) : sessions.end(session))
    note(req, isEverywhere ? 'session.sign-out-everywhere' : 'session.sign-out', session.member)
    clearSessionCookie({ req, res })
    res.status(204).end()
  })
  routes.all('/v1/session', methodNotAllowed('GET', 'HEAD', 'POST', 'PATCH', 'DELETE'))

  routes.post('/v1/session/link', async (req, res) => {
    res.json(linkToWire(await signIn.readLink(readLinkToken(await body(req)))))
  })

  routes.put('/v1/session/link', async (req, res) => {
    const { link, ...choice } = readLinkUse(await body(req))
    const session = await signIn.byLink(link, choice)
    note(req, 'session.use-link', session.member)
    begin(req, res, session)
  })
  routes.all('/v1/session/link', methodNotAllowed('POST', 'PUT'))
  return routes
}
