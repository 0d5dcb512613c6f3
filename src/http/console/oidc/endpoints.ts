import type { Request } from 'express'
import type { Log } from '../../../core/log.ts'
import type { AuditLog } from '../../../core/ports/audit-log.ts'
import type { Limits } from '../../../core/ports/rate-limiter.ts'
import type {
  Begun,
  FinishedSignIn,
  OrganisationSignIn,
} from '../../../service/members/organisation/organisation-sign-in.ts'
import { endpoint, type ServedEndpoint } from '../../endpoint/endpoint.ts'
import { text } from '../../endpoint/query.ts'
import type { Reply } from '../../endpoint/reply.ts'
import { addOwnEntry, auditedBy } from '../audited-by.ts'
import { oidcCookie, setOidcCookie, setSessionCookie } from '../cookie.ts'
import { isPlace, toConsole } from './places.ts'
import { countAttempt, noteRefusal } from './refused.ts'

/** The services that handle these requests. */
export interface Services {
  /** Undefined: there is no identity provider, and these endpoints do not exist. */
  organisation: OrganisationSignIn | undefined
  audit: AuditLog
  limits: Limits
  log: Log
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

/** The services when there is an identity provider. */
type WithOrganisation = Services & { organisation: OrganisationSignIn }

const REDIRECT = {
  303: {
    description: 'The next page: of the identity provider, or of the console.',
    headers: ['Location', 'Cache-Control', 'Set-Cookie'],
  },
} as const

const beginOidc = endpoint({
  route: 'GET /v1/session/oidc',
  id: 'beginOidc',
  tag: 'Members',
  summary: 'Go to the identity provider of the organisation, to sign in',
  description:
    'For browsers. The cookie is valid for ten minutes. When the provider does not respond, the sign-in page is shown with the reason; a link on a page of another site shows it too. The endpoint does not exist without OIDC_ISSUER.',
  access: 'public',
  query: { from: text('Page of the console to show afterwards: a path below `/dashboard`.') },
  responses: REDIRECT,
  examples: [
    { id: 'page', summary: 'To a page of the console', parameters: { from: '/members' }, status: 303 },
  ],

  async handle(services: WithOrganisation, { req, res, query }) {
    const { organisation, baseUrl } = services
    const from = query.from !== undefined && isPlace(query.from) ? query.from : '/'
    if (isOfOtherSite(req)) {
      const signIn = toConsole(`/sign-in?${new URLSearchParams({ from })}`, baseUrl)
      return { status: 303, headers: { Location: signIn } }
    }
    return redirected({ req, from }, services, async () => {
      const { url, cookie: value, expiresAt } = await organisation.begin(from)
      setOidcCookie({ req, res }, { value, expiresAt })
      return url
    })
  },
})

const finishOidc = endpoint({
  route: 'GET /v1/session/oidc/callback',
  id: 'finishOidc',
  tag: 'Members',
  summary: 'Come back from the identity provider, and begin a session',
  description:
    'The redirect URI of the console at the provider. It is for the browser that has begun the sign-in, within ten minutes. A refused sign-in leads to the sign-in page with the reason.',
  access: 'public',
  responses: REDIRECT,
  examples: [
    { id: 'refused', summary: 'Without the cookie of the sign-in: to the sign-in page', status: 303 },
  ],

  async handle(services: WithOrganisation, { req, res }) {
    const { organisation, audit, baseUrl } = services
    const answer = new URL(req.originalUrl, baseUrl).searchParams
    let begun: Begun
    try {
      begun = organisation.begunBy(answer, oidcCookie(req))
    } catch (error) {
      return redirected({ req }, services, () => Promise.reject(error))
    }
    // The browser removes it at its first answer, also when the sign-in is refused.
    setOidcCookie({ req, res }, { expiresAt: 0 })
    return redirected({ req, from: begun.from }, services, async () => {
      await countAttempt(req, services)
      const finished = await organisation.finish(answer, begun)
      const { session } = finished
      noteAdmission(req, services, finished)
      addOwnEntry(req, { audit, action: 'session.sign-in', member: session.member, details: { by: 'oidc' } })
      setSessionCookie({ req, res }, session)
      return toConsole(begun.from, baseUrl)
    })
  },
})

const endOidc = endpoint({
  route: 'GET /v1/session/oidc/sign-out',
  id: 'endOidc',
  tag: 'Members',
  summary: 'Sign out of the identity provider too',
  description:
    'For browsers, after `DELETE /v1/session`. The provider may show a page that confirms it. Without a page for it at the provider, the sign-in page of the console is shown.',
  access: 'public',
  responses: REDIRECT,
  examples: [{ id: 'provider', summary: 'To the provider', status: 303 }],

  async handle({ organisation, baseUrl }: WithOrganisation) {
    const url = (await organisation.signOutUrl()) ?? toConsole('/sign-in', baseUrl)
    return { status: 303, headers: { Location: url } }
  },
})

/** Sign-in with the identity provider of an organisation, for browsers. */
export const OIDC = [beginOidc, finishOidc, endOidc].map(offeredWithProvider)

function offeredWithProvider(defined: ServedEndpoint<WithOrganisation>): ServedEndpoint<Services> {
  return {
    ...defined,
    handlerOf: ({ organisation, ...services }) =>
      organisation && defined.handlerOf({ ...services, organisation }),
  }
}

/** A page of another site could replace a session by the person's own one. Such a link shows the sign-in page, with the button. */
function isOfOtherSite({ headers }: Request): boolean {
  return ['cross-site', 'same-site'].includes(String(headers['sec-fetch-site']))
}

/** A redirect to the URL of the attempt, or to the sign-in page with the reason of its refusal. */
async function redirected(
  { req, from }: { req: Request; from?: string },
  services: Services,
  attempt: () => Promise<string>,
): Promise<Reply> {
  const url = await attempt().catch((error: unknown) => {
    const refused = noteRefusal(req, error, services)
    const query = new URLSearchParams({ refused, ...(from === undefined ? {} : { from }) })
    return toConsole(`/sign-in?${query}`, services.baseUrl)
  })
  return { status: 303, headers: { Location: url } }
}

function noteAdmission(
  req: Request,
  { audit }: Services,
  { session: { member }, admission }: FinishedSignIn,
): void {
  if (admission === 'unchanged') return
  const { id, name, email, role } = member
  const action = admission === 'joined' ? 'member.join' : 'member.update'
  const details = { by: 'oidc', email, role, ...(admission === 'linked' ? { linked: true } : {}) }
  audit.add({ ...auditedBy(req), member: { id, name }, action, target: id, details })
}
