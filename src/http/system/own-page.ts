import type { RequestHandler, Response } from 'express'
import helmet, { type HelmetOptions } from 'helmet'
import { HTML } from '../documents/contents.ts'
import type { DocumentedEndpoint } from '../documents/endpoint.ts'

const RETRY_SECONDS = 2

/**
 * The headers of a page that loads nothing from other servers, and that no other page embeds.
 *
 * @param directives of the content security policy, in addition to those of every page
 * @param options of helmet, in addition to those of every page
 */
export function ownPageHeaders(
  directives: Readonly<Record<string, readonly string[]>>,
  options: Pick<HelmetOptions, 'crossOriginOpenerPolicy' | 'originAgentCluster' | 'xFrameOptions'> = {},
): RequestHandler {
  return helmet({
    strictTransportSecurity: false,
    // The address of a page may name files.
    referrerPolicy: { policy: 'no-referrer' },
    ...options,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        imgSrc: ["'self'", 'data:', 'blob:'],
        mediaSrc: ["'self'", 'blob:'],
        connectSrc: ["'self'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
        ...directives,
      },
    },
  })
}

/** The response of a page before it is built. */
export const NOT_BUILT = {
  503: {
    description:
      'The page is not built yet: a first `npm start` builds it while the server serves already. It reloads by itself.',
    content: HTML,
    headers: ['Cache-Control', 'Retry-After'],
  },
} as const satisfies DocumentedEndpoint['responses']

/**
 * 503 for a page that is not built yet. A first `npm start` builds it while the server serves already, so the browser tries again.
 *
 * @param name what the page is, with its article
 */
export function sendNotBuilt(res: Response, name: string): void {
  res.status(503).setHeader('Cache-Control', 'no-store').setHeader('Retry-After', RETRY_SECONDS)
  res.type('html').send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${RETRY_SECONDS}">
<link rel="icon" href="data:,">
<title>Sluice</title>
<style>
  body { max-width: 44rem; margin: 4rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
  :root { color-scheme: light dark; }
</style>
<h1>${name} is not built yet</h1>
<p>After the first <code>npm start</code>, this takes about half a minute, and this page reloads. Otherwise, run <code>npm run build</code>.</p>
`)
}
