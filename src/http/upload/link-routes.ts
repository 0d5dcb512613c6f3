import { type RequestHandler, Router } from 'express'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { SignedLinks } from '../../service/upload/upload-links.ts'
import { anonymousCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { sendReply } from '../endpoint/reply.ts'
import { methodNotAllowed } from '../problem.ts'
import { stateOf } from '../request-state.ts'
import { TUS_ALLOWED_HEADERS } from '../tus/headers.ts'
import { isResumable } from '../tus/ietf.ts'
import { refuseFieldInLink } from './link-fields.ts'
import type { Receive } from './receive.ts'

interface Dependencies {
  signedLinks: SignedLinks
  limits: Limits
  receive: Receive
}

/** The path of a signed link. */
export const SIGNED_LINK = '/v1/upload/sign/:id/:signature/*folder'

/**
 * `PUT` or `POST` to a signed link, with a form that has the file in its part `file`, or with the file as the body.
 * Stores the file and returns its record. Pages of any origin may use it, since only the link authorizes. An appended
 * `&name=` names a file that is the body.
 */
export function signedUploadRoutes({ signedLinks, limits, receive }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const upload: RequestHandler = async (req, res, next) => {
    // It creates a resumable upload: http/tus/routes.ts.
    if (req.method === 'POST' && isResumable(req)) return next()
    // The raw URL: any change to a link makes it another one.
    const { target, name } = named(req.url)
    const opened = signedLinks.read(target)
    const { client } = opened
    stateOf(req).clientId = client.id
    // Before the rate limit: a used link must not consume points of its client.
    await signedLinks.check(opened)
    await consumeRateLimit(req, res, { limits, limited: 'upload', client })
    const reply = await receive(req, res, {
      ...{
        grant: { client },
        caller: anonymousCallerOf(req),
        as: 'either',
        name,
        maxFiles: 1,
        refuseField: refuseFieldInLink,
      },
      isRepeatable: false,
      store: (arriving) => signedLinks.upload(opened, arriving),
    })
    sendReply(res, reply)
  }

  routes.all(SIGNED_LINK, corsUpload)
  routes.put(SIGNED_LINK, upload)
  routes.post(SIGNED_LINK, upload)
  // DELETE is not listed here: it may mean an original in a folder of this name.
  for (const method of ['get', 'patch'] as const)
    routes[method](SIGNED_LINK, methodNotAllowed('PUT', 'POST', 'OPTIONS', 'DELETE'))
  return routes
}

/**
 * Separates a link from the name that its holder has appended. The
 * name is not signed: it has no more effect than the name in a form.
 */
function named(url: string): { target: string; name: string } {
  const added = url.indexOf('&name=')
  if (added === -1 || url.indexOf('&', added + 1) !== -1) return { target: url, name: '' }
  const name = new URLSearchParams(url.slice(added)).get('name') ?? ''
  return { target: url.slice(0, added), name }
}

const corsUpload: RequestHandler = (req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*')
  res.setHeader('Access-Control-Expose-Headers', 'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id')
  if (req.method !== 'OPTIONS') return next()
  res.setHeader('Allow', 'PUT, POST, OPTIONS, DELETE')
  res.setHeader('Access-Control-Allow-Methods', 'PUT, POST')
  res.setHeader('Access-Control-Allow-Headers', TUS_ALLOWED_HEADERS)
  res.setHeader('Access-Control-Max-Age', '86400')
  res.status(204).end()
}
