import type { RequestHandler, Response } from 'express'
import { z } from 'zod'
import { boundedInteger } from '../../core/bounded-schemas.ts'
import { folderWithin, type Grant } from '../../core/clients/grant.ts'
import { parseExistingFolder } from '../../core/files/object-key.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import {
  type ClientFolder,
  COOKIE_MAX_SECONDS,
  folderCookieName,
  readSignedFolder,
  signFolder,
} from '../../core/signing/signed-folder.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { permitCredentials } from '../caller/page-origin.ts'
import { preflight } from '../caller/preflight.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { endpoint, json, type ServedEndpoint } from '../endpoint/endpoint.ts'
import { bodyOf, replyOf } from '../endpoint/named.ts'
import { stateOf } from '../request-state.ts'
import { instant, iso } from '../wire/instant.ts'
import { expiryWithin, signingKey } from './signing-key.ts'

/** The services that handle these requests. */
export interface Services {
  clients: Clients
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

const cookieRequest = bodyOf('FolderCookieRequest', {
  folder: z
    .string('a folder')
    .describe('Folder that the cookie opens, with its subfolders. Default: the folder of the secret.')
    .optional(),
  expiresIn: boundedInteger({
    min: 1,
    max: COOKIE_MAX_SECONDS,
    expected: `an integer number of seconds from 1 to ${COOKIE_MAX_SECONDS}`,
  }).describe('When the cookie expires, in seconds.'),
})
const folderCookie = replyOf('FolderCookie', 'A signed cookie.', {
  name: z.string().describe('Name of the cookie, which differs from folder to folder.'),
  value: z.string().describe('Value of the cookie.'),
  path: z.string().describe('Path for which a browser sends the cookie.'),
  maxAge: z.int().min(0).describe('Lifetime in seconds, for `Max-Age`.'),
  expiresAt: instant('When the cookie expires.'),
  link: z.string().describe('URL that sets the cookie, for apps that share no domain with the service.'),
})

/** For servers that have a secret, and not the URL key. */
export const createFolderCookie = endpoint({
  route: 'POST /v1/sign/cookie',
  // GET requests a link for the folder "cookie".
  alsoAllows: ['GET', 'HEAD'],
  id: 'createFolderCookie',
  tag: 'Links',
  summary: 'Sign a cookie that opens a folder',
  description: 'The client needs a URL key, which the operator adds.',
  access: { secret: 'read' },
  body: cookieRequest,
  bodyMaxBytes: 64 * 1024,
  responses: { 200: json(folderCookie, 'The cookie.', ['RateLimit', 'RateLimit-Policy']) },
  problems: ['400 bad_path', '409 client_conflict', '429 rate_limited'],
  examples: [
    {
      id: 'gallery',
      summary: 'The cookie of a gallery, for an hour',
      body: { folder: 'gallery', expiresIn: 3600 },
      status: 200,
      response: {
        name: 'sluice_folder_0d3c5cb0',
        value: EXAMPLE.folderCookie,
        path: '/v1/',
        maxAge: 3600,
        expiresAt: '2026-11-30T13:00:00.000Z',
        link: `${EXAMPLE.baseUrl}/v1/cookie/${EXAMPLE.token}/${EXAMPLE.folderCookie}`,
      },
    },
  ],

  async handle(
    { clients, limits, baseUrl }: Services & { limits: Limits },
    { req, res, caller, body: { folder: requested, expiresIn } },
  ) {
    const folder = folderOf(requested, caller)
    const key = signingKey(caller, clients)
    await consumeRateLimit(req, res, { limits, limited: 'sign', client: caller.client })
    const now = Math.floor(Date.now() / 1000)
    const until = expiryWithin(caller, expiresIn) ?? now + expiresIn
    const { token } = caller.client
    const value = signFolder({ token, folder, until }, key)
    const cookie: z.input<typeof folderCookie> = {
      name: folderCookieName({ token, folder }),
      value,
      path: cookiePath(baseUrl),
      maxAge: Math.max(0, until - now),
      expiresAt: iso(1000 * until),
      link: `${baseUrl}/v1/cookie/${token}/${value}`,
    }
    return { json: cookie }
  },
})

/** A cookie without a folder would open all files. @throws Problem 400, 403 outside of the folder of the secret */
function folderOf(requested: string | undefined, grant: Grant): string {
  const folder = parseExistingFolder(folderWithin(requested, grant), 'folder')
  if (folder === '') throw badParameter({ param: 'folder', expected: 'a folder' })
  return folder
}

const answerPreflight = preflight({ methods: 'GET', headers: '', allow: 'GET, HEAD, OPTIONS' })

// Only pages of listed origins may read the response. Any page can make a browser request the link: its value is the permission.
const cors: RequestHandler = (req, res, next) => {
  permitCredentials(req, res)
  answerPreflight(req, res, next)
}

/**
 * Sets the signed cookie of which the path has the value, for apps that share no domain with this service. It never redirects: a URL of
 * another origin in a link would make this service an open redirect.
 */
export const setFolderCookie: ServedEndpoint<Services> = {
  ...endpoint({
    route: 'GET /v1/cookie/:token/:value',
    id: 'setFolderCookie',
    tag: 'Links',
    summary: 'Set the signed cookie of a folder',
    description:
      'A page fetches this link with credentials. The browser then sends the cookie with requests of this page for the files in the folder.',
    access: 'link',
    responses: {
      204: { description: 'The cookie was set.', headers: ['Cache-Control', 'Set-Cookie'] },
    },
    problems: ['403 link_invalid', '403 link_expired', '404 client_not_found'],
    examples: [
      {
        id: 'gallery',
        summary: 'The cookie of a gallery',
        parameters: { token: EXAMPLE.token, value: EXAMPLE.folderCookie },
        status: 204,
      },
    ],

    handle({ clients, baseUrl }: Services, { req, res, params: { token = '', value = '' } }) {
      const client = clients.ofToken(token)
      stateOf(req).clientId = client.id
      const findKey = (version: number) => clients.urlKeys.find(client, version)
      const found = readSignedFolder(value, { token, findKey, now: Date.now() })
      if (found === 'expired')
        throw refusal('link_expired', 'The cookie of this link has expired. Request a new one.')
      if (found === undefined)
        throw refusal('link_invalid', 'Invalid cookie in this link: it was changed, or its key was revoked.')
      setCookie(res, { token, value, ...found }, baseUrl)
      return {}
    },
  }),
  first: cors,
}

/** Sets the cookie in the same way for pages of every site: only requests of the page that has fetched the link have it. */
function setCookie(
  res: Response,
  { value, ...opened }: ClientFolder & { value: string },
  baseUrl: string,
): void {
  const leftSeconds = Math.floor(opened.until - Date.now() / 1000)
  res.append(
    'Set-Cookie',
    `${folderCookieName(opened)}=${value}; Path=${cookiePath(baseUrl)}; Max-Age=${leftSeconds}; Secure; HttpOnly; SameSite=None; Partitioned`,
  )
}

function cookiePath(baseUrl: string): string {
  return `${new URL(baseUrl).pathname.replace(/\/$/, '')}/v1/`
}

function refusal(code: string, detail: string): Problem {
  return new Problem({ status: 403, code, detail })
}
