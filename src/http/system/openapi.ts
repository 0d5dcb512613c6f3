import { Router } from 'express'
import { sha256 } from '../../core/bytes/digest.ts'
import { corsPublicRead } from '../delivery/cors.ts'
import { type DocumentOptions, openApiDocument } from '../documents/openapi/document.ts'
import { methodNotAllowed } from '../problem.ts'

// It only changes with a restart. A page that shows it revalidates, which costs no more than the headers.
const CACHE_CONTROL = 'public, max-age=0, must-revalidate'

/** `GET /v1/openapi.json`: the API of this installation in OpenAPI 3.1. Created at the first request. */
export function openApiRoutes(options: DocumentOptions): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  let created: { body: string; etag: string } | undefined
  const document = () => {
    if (created) return created
    const body = JSON.stringify(openApiDocument(options))
    created = { body, etag: `"${sha256(body).slice(0, 32)}"` }
    return created
  }

  routes.all('/v1/openapi.json', corsPublicRead)
  routes.get('/v1/openapi.json', (req, res) => {
    const { body, etag } = document()
    res.setHeader('Cache-Control', CACHE_CONTROL)
    res.setHeader('ETag', etag)
    // Express returns 304 when If-None-Match has this ETag.
    if (req.fresh) return void res.status(304).end()
    res.type('json').send(body)
  })
  routes.all('/v1/openapi.json', methodNotAllowed('GET', 'HEAD', 'OPTIONS'))
  return routes
}
