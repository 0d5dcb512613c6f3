import { Router } from 'express'
import { sha256 } from '../../core/bytes/digest.ts'
import type { DescribedParameters } from '../../core/plugin-api/describe-parameters.ts'
import { corsPublicRead } from '../delivery/cors.ts'
import { methodNotAllowed } from '../problem.ts'

// They only change with a restart, and a five minutes old document does no harm.
const CACHE_CONTROL = 'public, max-age=300'

/** `GET /v1/parameters`: the parameters of delivery URLs, by media group, as JSON. */
export function parametersRoutes(parameters: DescribedParameters): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const body = JSON.stringify(parameters)
  const etag = `"${sha256(body).slice(0, 32)}"`
  routes.all('/v1/parameters', corsPublicRead)
  routes.get('/v1/parameters', (_req, res) => {
    res.setHeader('Cache-Control', CACHE_CONTROL)
    res.setHeader('ETag', etag)
    res.type('json').send(body)
  })
  routes.all('/v1/parameters', methodNotAllowed('GET', 'HEAD', 'OPTIONS'))
  return routes
}
