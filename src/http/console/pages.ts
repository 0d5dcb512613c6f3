import { randomBytes } from 'node:crypto'
import type { RequestHandler } from 'express'
import { acceptedEncoding } from '../../core/media/encodings.ts'
import { routeNotFound } from '../../core/url-problems.ts'
import type { OrganisationSignIn } from '../../service/members/organisation/organisation-sign-in.ts'
import { ANY_FILE, HTML } from '../documents/contents.ts'
import type { DocumentedEndpoint } from '../documents/endpoint.ts'
import { path } from '../documents/parameters.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { NOT_BUILT, ownPageHeaders, sendNotBuilt } from '../system/own-page.ts'
import type { BuiltConsole } from './built-files.ts'

const YEAR_SECONDS = 31_536_000

/** The services that handle these requests. */
export interface Services {
  /** The files of the console; undefined while they are not built. */
  builtConsole: () => BuiltConsole | undefined
  /** Undefined when only passwords are used. */
  organisation: Pick<OrganisationSignIn, 'label'> | undefined
}

const PAGE = {
  200: { description: 'The page.', content: HTML, headers: ['Cache-Control'] },
  ...NOT_BUILT,
} as const satisfies DocumentedEndpoint['responses']

/** Every page is the same document, whose script shows the page of the URL. */
function sendsPage({ builtConsole, organisation }: Services): RequestHandler {
  return (req, res) => {
    const files = builtConsole()
    if (!files) return sendNotBuilt(res, 'The console')
    const nonce = randomBytes(16).toString('base64')
    securityHeaders({ nonce, isSecure: req.secure })(req, res, () => {
      // A page names the assets of one version: after an upgrade, a stored page would name assets that no longer exist.
      res.setHeader('Cache-Control', 'no-store')
      res.type('html').send(files.page({ base: baseOf(req.path), nonce, organisation: organisation?.label }))
    })
  }
}

const getConsole: ServedEndpoint<Services> = {
  route: 'GET /dashboard',
  id: 'getConsole',
  tag: 'Service',
  summary: 'The console: pages for people who manage files and clients',
  access: 'public',
  responses: PAGE,
  examples: [{ id: 'page', summary: 'The first page', status: 200 }],
  problems: [],
  handlerOf: sendsPage,
}

const getConsolePage: ServedEndpoint<Services> = {
  route: 'GET /dashboard/{*page}',
  path: '/dashboard/{page}',
  id: 'getConsolePage',
  tag: 'Service',
  summary: 'A page of the console',
  access: 'public',
  parameters: [path('page', 'The path of the page.')],
  responses: PAGE,
  examples: [{ id: 'page', summary: 'A page', parameters: { page: 'account' }, status: 200 }],
  problems: [],
  handlerOf: sendsPage,
}

const getConsoleAsset: ServedEndpoint<Services> = {
  route: 'GET /dashboard/assets/:file',
  id: 'getConsoleAsset',
  tag: 'Service',
  summary: 'A script or style sheet of the console',
  access: 'public',
  parameters: [path('file', 'Name of the file, which has a hash of its content.')],
  responses: {
    200: {
      description: 'The file. It never changes.',
      content: ANY_FILE,
      headers: ['Cache-Control'],
    },
  },
  examples: [
    { id: 'none', summary: 'A file that does not exist', parameters: { file: 'none.js' }, status: 404 },
  ],
  problems: [],

  handlerOf({ builtConsole }) {
    return ({ params, headers }, res) => {
      const found = builtConsole()?.asset(String(params.file))
      if (!found) throw routeNotFound()
      const encoding = acceptedEncoding(headers['accept-encoding'], found.encodings)
      // The name of an asset contains a hash of its content.
      res.setHeader('Cache-Control', `public, max-age=${YEAR_SECONDS}, immutable`)
      res.setHeader('X-Content-Type-Options', 'nosniff')
      res.vary('Accept-Encoding')
      if (encoding !== undefined) res.setHeader('Content-Encoding', encoding)
      res.type(found.type).send(found.bytes(encoding))
    }
  },
}

/** The console. All URLs of its pages are relative to their `<base>`, so it works below a path of a proxy. */
export const CONSOLE_PAGES = [getConsoleAsset, getConsole, getConsolePage]

/** The URL of `/dashboard/`, relative to a page: `dashboard/`, `./`, `../`, `../../` and so on. */
export function baseOf(path: string): string {
  const depth = path.split('/').length - 3
  if (depth < 0) return 'dashboard/'
  return depth === 0 ? './' : '../'.repeat(depth)
}

/**
 * @param nonce permits one `<style>` element of Radix, which stops the page from scrolling below an open dialog. There is no
 * other inline style: React sets styles through the DOM, which the policy does not restrict.
 */
function securityHeaders({ nonce, isSecure }: { nonce: string; isSecure: boolean }) {
  return ownPageHeaders(
    {
      styleSrc: ["'self'", `'nonce-${nonce}'`],
      fontSrc: ["'self'"],
      // hls.js starts its worker from a blob.
      workerSrc: ["'self'", 'blob:'],
      // The browser's viewer of PDF files.
      frameSrc: ["'self'", 'blob:'],
      manifestSrc: ["'self'"],
      baseUri: ["'self'"],
    },
    {
      // Browsers ignore these two over plain HTTP, and report that as an error.
      crossOriginOpenerPolicy: isSecure,
      originAgentCluster: isSecure,
      xFrameOptions: { action: 'deny' },
    },
  )
}
