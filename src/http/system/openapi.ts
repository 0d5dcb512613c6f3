import { corsPublicRead } from '../delivery/cors.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { tagOf } from '../entity-tag.ts'

// It only changes with a restart. A page that shows it revalidates, which costs no more than the headers.
const CACHE_CONTROL = 'public, max-age=0, must-revalidate'

/** The API of this installation in OpenAPI 3.1. `apiDocument` is called at the first request. */
export const getApiDocument: ServedEndpoint<{ apiDocument: () => object }> = {
  route: 'GET /v1/openapi.json',
  id: 'getApiDocument',
  tag: 'Service',
  summary: 'Get this document',
  access: 'public',
  responses: {
    200: {
      description: 'The API of this installation in OpenAPI 3.1, with the parameters of its plugins.',
      content: { 'application/json': { json: { type: 'object' } } },
      headers: ['ETag', 'Cache-Control'],
    },
    304: { description: 'The document has not changed.', headers: ['ETag', 'Cache-Control'] },
  },
  examples: [{ id: 'document', summary: 'This document', status: 200 }],
  problems: [],
  first: corsPublicRead,

  handlerOf({ apiDocument }) {
    let created: { body: string; etag: string } | undefined
    const document = () => {
      if (created) return created
      const body = JSON.stringify(apiDocument())
      created = { body, etag: `"${tagOf(body)}"` }
      return created
    }
    return (req, res) => {
      const { body, etag } = document()
      res.setHeader('Cache-Control', CACHE_CONTROL)
      res.setHeader('ETag', etag)
      // Express returns 304 when If-None-Match has this ETag.
      if (req.fresh) return void res.status(304).end()
      res.type('json').send(body)
    }
  },
}
