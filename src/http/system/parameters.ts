import type { DescribedParameters } from '../../core/plugin-api/describe-parameters.ts'
import { corsPublicRead } from '../delivery/cors.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { tagOf } from '../entity-tag.ts'
import { parameterLists } from '../wire/parameter-lists.ts'

// They only change with a restart, and a document that is five minutes old does no harm.
const CACHE_CONTROL = 'public, max-age=300'

/** The parameters of delivery URLs, by the type of the file. */
export const getParameters: ServedEndpoint<{ parameters: DescribedParameters }> = {
  route: 'GET /v1/parameters',
  id: 'getParameters',
  tag: 'Service',
  summary: 'Get all parameters of delivery URLs, by the type of the file',
  access: 'public',
  responses: {
    200: {
      description: 'The parameters, including those of plugins.',
      content: { 'application/json': { schema: parameterLists } },
      headers: ['ETag', 'Cache-Control'],
    },
    304: { description: 'The parameters have not changed.', headers: ['ETag', 'Cache-Control'] },
  },
  examples: [{ id: 'all', summary: 'All parameters', status: 200 }],
  problems: [],
  first: corsPublicRead,

  handlerOf({ parameters }) {
    const body = JSON.stringify(parameters)
    const etag = `"${tagOf(body)}"`
    return (_req, res) => {
      res.setHeader('Cache-Control', CACHE_CONTROL)
      res.setHeader('ETag', etag)
      res.type('json').send(body)
    }
  },
}
