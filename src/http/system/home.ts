import type { RequestHandler } from 'express'
import helmet from 'helmet'
import { HTML } from '../documents/contents.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'

// Only for this page: helmet's defaults would keep other sites from embedding files. Over plain HTTP, for example on a
// LAN address, links and favicon must not be upgraded to HTTPS, which does not exist there.
const headers = helmet({
  strictTransportSecurity: false,
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
})

const answerOptions: RequestHandler = (req, res, next) => {
  // The usual check of HAProxy.
  if (req.method !== 'OPTIONS') return next()
  res.setHeader('Allow', 'GET, HEAD, OPTIONS').status(204).end()
}

/** Explains the service to a person who opens its URL. */
export const getHome: ServedEndpoint<unknown> = {
  route: 'GET /',
  id: 'getHome',
  tag: 'Service',
  summary: 'A page about the service',
  access: 'public',
  responses: { 200: { description: 'The page.', content: HTML } },
  examples: [{ id: 'page', summary: 'The page', status: 200 }],
  problems: [],
  first: answerOptions,
  handlerOf: () => (req, res) => headers(req, res, () => res.type('html').send(PAGE)),
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Sluice</title>
<style>
  body { max-width: 44rem; margin: 4rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
  code { background: #8882; padding: 0.1em 0.3em; border-radius: 0.2em; overflow-wrap: anywhere; }
  :root { color-scheme: light dark; }
</style>
<h1>Sluice</h1>
<p>Self-hosted file storage, transformation and delivery. The service is running.</p>
<ul>
  <li><code>POST /v1/upload</code> stores files.</li>
  <li><code>GET /v1/image/upload/&lt;client token&gt;/&lt;path&gt;?w=300&amp;f=webp</code> delivers a file, here as WebP and 300 px wide.</li>
  <li><code>POST /v1/zip</code> delivers several files as one ZIP archive.</li>
  <li><code>DELETE /v1/upload/&lt;path&gt;</code> deletes a file and its derivatives.</li>
  <li><a href="dashboard"><code>GET /dashboard</code></a> shows the console, where people manage files and clients.</li>
  <li><a href="v1/parameters"><code>GET /v1/parameters</code></a> lists the parameters of transformations, as JSON.</li>
  <li><a href="docs/api"><code>GET /docs/api</code></a> shows all endpoints.</li>
  <li><a href="readyz"><code>GET /readyz</code></a> states whether the service can serve requests.</li>
</ul>
<p>The README in the source folder has the whole documentation.</p>
`
