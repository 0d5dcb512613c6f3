import { parseRemoteUrl } from '../../core/net/remote-url.ts'
import { Problem } from '../../core/problem.ts'
import type { RemoteMirror } from '../../service/remote/keep.ts'
import type { RemotePictures } from '../../service/remote/transform.ts'
import { callerByToken } from '../caller/caller.ts'
import { clientIp } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { EXAMPLE, fileExamples } from '../documents/examples.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { groupOf, wildcardSegments } from '../request.ts'
import { STORED_PROBLEMS } from '../upload/described.ts'
import { corsPublicRead } from './cors.ts'
import { deliveryParameters, pictureParameters } from './parameters.ts'
import {
  DELIVERED_PROBLEMS,
  FETCHED_PROBLEMS,
  SENT_PROBLEMS,
  SIGNATURE_PROBLEMS,
  TRANSFORMED_PROBLEMS,
} from './problems.ts'
import { remotePicture } from './remote-picture.ts'
import { SENT_FILE, STORED_FILE } from './responses.ts'
import { type StoredFileServices, storedFiles } from './stored-file.ts'

/** The services that handle these requests. */
export interface Services extends StoredFileServices {
  remoteMirror: RemoteMirror
  remotePictures: RemotePictures
}

/** A file of another server, which is stored at the first request. The URL is one segment of the path, percent-encoded once. */
const fetchAndStore: ServedEndpoint<Services> = {
  route: 'GET /v1/:group/fetch/keep/:token/:url',
  id: 'get{Group}AndStore',
  tag: 'Delivery',
  summary: 'Deliver {file} of another server, and store it at the first request',
  access: 'signature',
  responses: STORED_FILE,
  problems: [...DELIVERED_PROBLEMS, ...FETCHED_PROBLEMS, ...STORED_PROBLEMS],
  byGroup: (group, parameters) => ({
    parameters: deliveryParameters(group, parameters),
    examples: fileExamples({ url: EXAMPLE.remoteUrl }),
  }),
  first: corsPublicRead,

  handlerOf(services) {
    const { clients, remoteMirror, limits } = services
    const send = storedFiles(services)
    return async (req, res) => {
      const group = groupOf(req)
      const { client, query } = callerByToken(req, clients)
      const url = parseRemoteUrl(String(req.params.url))
      const address = clientIp(req)
      const beforeFetching = () =>
        consumeRateLimit(req, res, { limits, limited: 'fetch', client, asker: 'anyone' })
      await send(req, res, {
        client,
        group,
        query,
        findPath: async (signal) =>
          (await remoteMirror.keep({ client, address, group, url, beforeFetching, signal })).key,
      })
    }
  },
}

/** An image of another server, transformed by the parameters of the query. The URL is one segment, too. */
const fetchPicture: ServedEndpoint<Services> = {
  route: 'GET /v1/:group/fetch/:token/*url',
  id: 'getRemoteImage',
  tag: 'Delivery',
  summary: 'Deliver a transformed image of another server, without storing it',
  access: 'signature',
  responses: SENT_FILE,
  problems: [
    ...SIGNATURE_PROBLEMS,
    '400 bad_parameter',
    '404 client_not_found',
    '400 only_pictures',
    ...FETCHED_PROBLEMS,
    ...TRANSFORMED_PROBLEMS,
    ...SENT_PROBLEMS,
  ],
  byGroup: (group, parameters) =>
    group === 'image' ? { parameters: pictureParameters(parameters) } : undefined,
  examples: [
    {
      id: 'small',
      summary: '300 px wide',
      parameters: { token: EXAMPLE.token, url: EXAMPLE.remoteUrl, w: '300' },
      status: 200,
    },
  ],
  first: corsPublicRead,

  handlerOf(services) {
    const send = remotePicture(services)
    return async (req, res) => {
      const group = groupOf(req)
      const [encoded = '', ...others] = wildcardSegments(req, 'url')
      if (others.length > 0) throw notEncoded()
      const { client, query } = callerByToken(req, services.clients)
      if (group !== 'image') throw onlyPictures(group)
      await send(req, res, { client, url: parseRemoteUrl(encoded), query })
    }
  },
}

/** The deliveries of files of other servers. */
export const FETCHES = [fetchAndStore, fetchPicture]

function notEncoded(): Problem {
  return new Problem({
    status: 400,
    code: 'url_not_allowed',
    detail: 'expected the URL to fetch as one segment of the path: encodeURIComponent(url)',
  })
}

function onlyPictures(group: string): Problem {
  return new Problem({
    status: 400,
    code: 'only_pictures',
    detail: `expected type image for a file that is not stored but received ${group}. To store it, use /v1/${group}/fetch/keep/`,
  })
}
