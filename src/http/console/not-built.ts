import type { Response } from 'express'

const RETRY_SECONDS = 2

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
