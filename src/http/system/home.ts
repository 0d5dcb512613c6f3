import { Router } from 'express'
import helmet from 'helmet'
import { methodNotAllowed } from '../problem.ts'

/** `GET /`: explains the service to a person who opens its URL. */
export function homeRoutes(): Router {
  const routes = Router()
  // Only for this page: helmet's defaults would keep other sites from embedding files. Over plain HTTP, for example on a
  // LAN address, links and favicon must not be upgraded to HTTPS, which does not exist there.
  const directives = { upgradeInsecureRequests: null }
  const headers = helmet({ strictTransportSecurity: false, contentSecurityPolicy: { directives } })
  routes.get('/', headers, (_req, res) => {
    res.type('html').send(PAGE)
  })
  // The usual check of HAProxy.
  routes.options('/', (_req, res) => {
    res.setHeader('Allow', ALLOWED.join(', ')).status(204).end()
  })
  routes.all('/', methodNotAllowed(...ALLOWED))
  return routes
}

const ALLOWED = ['GET', 'HEAD', 'OPTIONS']

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
