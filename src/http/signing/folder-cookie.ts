import { createHash } from 'node:crypto'
import type { RequestHandler, Response } from 'express'
import { Problem } from '../../core/problem.ts'
import { readSignedFolder, type SignedFolder } from '../../core/signing/signed-folder.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { permitCredentials } from '../caller/page-origin.ts'
import { preflight } from '../caller/preflight.ts'
import { COOKIE_PREFIX } from '../caller/signed-cookie.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { endpoint, type ServedEndpoint } from '../endpoint/endpoint.ts'
import { stateOf } from '../request-state.ts'

/** The services that handle these requests. */
export interface Services {
  clients: Clients
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
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
  { token, value, folder, until }: SignedFolder & { token: string; value: string },
  baseUrl: string,
): void {
  const id = createHash('sha256').update(`${token}/${folder}`).digest('hex').slice(0, 8)
  const leftSeconds = Math.floor(until - Date.now() / 1000)
  const path = `${new URL(baseUrl).pathname.replace(/\/$/, '')}/v1/`
  res.append(
    'Set-Cookie',
    `${COOKIE_PREFIX}_${id}=${value}; Path=${path}; Max-Age=${leftSeconds}; Secure; HttpOnly; SameSite=None; Partitioned`,
  )
}

function refusal(code: string, detail: string): Problem {
  return new Problem({ status: 403, code, detail })
}
