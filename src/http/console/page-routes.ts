import { randomBytes } from 'node:crypto'
import { Router } from 'express'
import helmet from 'helmet'
import { acceptedEncoding } from '../../core/media/encodings.ts'
import { methodNotAllowed, routeNotFound } from '../problem.ts'
import { type BuiltConsole, builtConsole } from './built-files.ts'
import { sendNotBuilt } from './not-built.ts'

const YEAR_SECONDS = 31_536_000

/**
 * `GET /dashboard`: the console. Every page is the same document, whose script shows the page of the URL. All its URLs are
 * relative to its `<base>`, so it works below a path of a proxy.
 *
 * @param options.readConsole reads the files of the console; undefined while they are not built
 */
export function consolePageRoutes({ readConsole = builtConsole } = {}): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  let files: BuiltConsole | undefined
  // A first `npm start` builds the console while the server serves already.
  const built = () => {
    files ??= readConsole()
    return files
  }
  built()
  routes.get('/dashboard/assets/:file', ({ params, headers }, res) => {
    const found = built()?.asset(String(params.file))
    if (!found) throw routeNotFound()
    const encoding = acceptedEncoding(headers['accept-encoding'], found.encodings)
    // The name of an asset contains a hash of its content.
    res.setHeader('Cache-Control', `public, max-age=${YEAR_SECONDS}, immutable`)
    res.setHeader('X-Content-Type-Options', 'nosniff')
    res.vary('Accept-Encoding')
    if (encoding !== undefined) res.setHeader('Content-Encoding', encoding)
    res.type(found.type).send(found.bytes(encoding))
  })
  routes.all('/dashboard/assets/:file', methodNotAllowed('GET', 'HEAD'))
  for (const path of ['/dashboard', '/dashboard/{*page}']) {
    routes.get(path, (req, res) => {
      const files = built()
      if (!files) return sendNotBuilt(res, 'The console')
      const nonce = randomBytes(16).toString('base64')
      securityHeaders({ nonce, isSecure: req.secure })(req, res, () => {
        // A page names the assets of one version: after an upgrade, a stored page would name assets that no longer exist.
        res.setHeader('Cache-Control', 'no-store')
        res.type('html').send(files.page({ base: baseOf(req.path), nonce }))
      })
    })
    routes.all(path, methodNotAllowed('GET', 'HEAD'))
  }
  return routes
}

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
  return helmet({
    strictTransportSecurity: false,
    // Browsers ignore these two over plain HTTP, and report that as an error.
    crossOriginOpenerPolicy: isSecure,
    originAgentCluster: isSecure,
    xFrameOptions: { action: 'deny' },
    // The address of a page may name files.
    referrerPolicy: { policy: 'no-referrer' },
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", `'nonce-${nonce}'`],
        imgSrc: ["'self'", 'data:', 'blob:'],
        mediaSrc: ["'self'", 'blob:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        // hls.js starts its worker from a blob.
        workerSrc: ["'self'", 'blob:'],
        // The browser's viewer of PDF files.
        frameSrc: ["'self'", 'blob:'],
        manifestSrc: ["'self'"],
        baseUri: ["'self'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
  })
}
