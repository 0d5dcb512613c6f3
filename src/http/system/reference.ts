import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OWN_FOLDER } from '../../core/own-files.ts'
import { routeNotFound } from '../../core/url-problems.ts'
import { ANY_FILE, HTML } from '../documents/contents.ts'
import { path } from '../documents/parameters.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { NOT_BUILT, ownPageHeaders, sendNotBuilt } from './own-page.ts'

// `npm run build` copies the files of the package into dist. From the sources, the package itself serves.
const BUILT = join(OWN_FOLDER, 'api-reference')
const PACKAGE = join(OWN_FOLDER, 'dashboard', 'node_modules', 'swagger-ui-dist')
const FILES: ReadonlySet<string> = new Set(['swagger-ui-bundle.js', 'swagger-ui.css'])
const START = 'start.js'
// Browsers revalidate by ETag: after an upgrade, an old script must not meet a new page.
const CACHE_CONTROL = 'public, max-age=0, must-revalidate'

const SENT = ['Cache-Control', 'ETag', 'Last-Modified', 'Accept-Ranges', 'Content-Range'] as const

// A first `npm start` builds the page while the server serves already.
const folder = () => [BUILT, PACKAGE].find((path) => existsSync(path))

const headers = ownPageHeaders({
  // Swagger UI sets style attributes for sizes and colours. They cannot run code.
  styleSrc: ["'self'", "'unsafe-inline'"],
  baseUri: ["'none'"],
})

/**
 * A page that shows the API document, and sends requests to this service. It loads nothing from other servers. All its URLs are
 * relative, so it works below a path of a proxy.
 */
const getReference: ServedEndpoint<unknown> = {
  route: 'GET /docs/api',
  id: 'getReference',
  tag: 'Service',
  summary: 'A page that shows this document and sends requests',
  access: 'public',
  responses: {
    200: { description: 'The page.', content: HTML, headers: ['Cache-Control', 'ETag'] },
    304: { description: 'The page has not changed.', headers: ['Cache-Control', 'ETag'] },
    ...NOT_BUILT,
  },
  examples: [{ id: 'page', summary: 'The page', status: 200 }],
  problems: [],
  handlerOf: () => (req, res) =>
    headers(req, res, () => {
      if (folder() === undefined) return sendNotBuilt(res, 'This page')
      res.setHeader('Cache-Control', CACHE_CONTROL)
      res.type('html').send(PAGE)
    }),
}

const getReferenceFile: ServedEndpoint<unknown> = {
  route: 'GET /docs/api/:file',
  id: 'getReferenceFile',
  tag: 'Service',
  summary: 'A script or style sheet of this page',
  access: 'public',
  parameters: [path('file', 'Name of the file.', { type: 'string', enum: [...FILES, START] })],
  responses: {
    200: { description: 'The file.', content: ANY_FILE, headers: SENT },
    206: { description: 'The requested byte range.', content: ANY_FILE, headers: SENT },
    304: { description: 'The file has not changed.', headers: SENT },
  },
  examples: [
    { id: 'script', summary: 'A script', parameters: { file: 'start.js' }, status: 200 },
    { id: 'none', summary: 'A file that does not exist', parameters: { file: 'none.js' }, status: 404 },
  ],
  problems: [],
  handlerOf: () => (req, res, next) =>
    headers(req, res, () => {
      const file = String(req.params.file)
      res.setHeader('Cache-Control', CACHE_CONTROL)
      if (file === START) return void res.type('js').send(SCRIPT)
      const root = folder()
      if (!FILES.has(file) || root === undefined) throw routeNotFound()
      res.sendFile(file, { root, cacheControl: false }, (error) => {
        if (error) next(error)
      })
    }),
}

/** The page of the API, and its files. */
export const REFERENCE = [getReference, getReferenceFile]

// On a phone, the tables of responses are wider than the screen. The document has no links, so their column is empty.
const STYLE = `
.swagger-ui .responses-inner, .swagger-ui .parameters-container { overflow-x: auto }
@media (max-width: 640px) { .swagger-ui .response-col_links { display: none } }
`

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Sluice API</title>
<link rel="stylesheet" href="api/swagger-ui.css">
<style>${STYLE}</style>
<div id="api"><noscript>This page needs JavaScript. The document is at v1/openapi.json.</noscript></div>
<script src="api/swagger-ui-bundle.js"></script>
<script src="api/start.js"></script>
`

// The page is at <base>/docs/api. Requests go to the origin of the page, which the policy above allows.
const SCRIPT = `const base = new URL('..', document.baseURI)
const show = (spec) => SwaggerUIBundle({
  spec: { ...spec, servers: [{ url: base.href.replace(/\\/$/, '') }] },
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
})
fetch(new URL('v1/openapi.json', base))
  .then((response) => response.json())
  .then(show)
  .catch((error) => document.getElementById('api').append('The API document cannot be loaded: ' + error.message))
`
