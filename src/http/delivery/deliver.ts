import type { Request } from 'express'
import { deliveryUrl } from '../../core/files/delivery-url.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import { preferencesOf } from '../../core/media/preferences.ts'
import { DOWNLOAD_WORD, isIgnoredParam } from '../../core/plugin-api/query-names.ts'
import { Problem } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'
import type { Redirects } from '../../service/moves/redirects.ts'
import { callerByToken } from '../caller/caller.ts'
import { anonymousCallerOf } from '../caller/client-ip.ts'
import { isFileWithin } from '../caller/signed-cookie.ts'
import { EXAMPLE, EXAMPLE_NAMES, fileExamples, IMAGE_EXAMPLES } from '../documents/examples.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import type { HotCacheWriter } from '../hot/cache-writer.ts'
import { createOrRedirect } from '../moves/redirect.ts'
import { clientGone, groupOf, limitedPairs } from '../request.ts'
import { corsPublicRead } from './cors.ts'
import { DOWNLOAD, deliveryParameters, SIGNATURE } from './parameters.ts'
import {
  DELIVERED_PROBLEMS,
  FILE_PROBLEMS,
  SCAN_PROBLEMS,
  SENT_PROBLEMS,
  SIGNATURE_PROBLEMS,
} from './problems.ts'
import { CONDITIONS, MOVED, REDIRECTED, SENT_FILE, STORED_FILE } from './responses.ts'
import { sendDelivery } from './send-delivery.ts'
import { etagOf, type StoredFileServices, storedFiles } from './stored-file.ts'

/** The services that handle these requests. */
export interface Services extends StoredFileServices {
  redirects: Redirects
  cacheWriter: HotCacheWriter
  /** Query parameters that are ignored, in addition to the built-in ones. */
  ignoredParams: readonly string[]
}

const DELIVERY_PATH = new RegExp(`^/v1/(?:(?:${MEDIA_GROUPS.join('|')})/upload|bucket)/[^/?]+/.`)

/**
 * Whether the path can only be that of a delivery. False for one that has a part of its prefix percent-encoded, or an unknown
 * group: other routes are tried first for these.
 */
export function isDelivery({ url }: Pick<Request, 'url'>): boolean {
  return DELIVERY_PATH.test(url)
}

/** A file, transformed by the parameters of the query. */
const deliverFile: ServedEndpoint<Services> = {
  route: 'GET /v1/:group/upload/:token/*path',
  id: 'get{Group}',
  tag: 'Delivery',
  summary: 'Deliver {file}, transformed by the parameters',
  access: 'signature or cookie',
  responses: { ...STORED_FILE, ...MOVED },
  problems: DELIVERED_PROBLEMS,
  byGroup: (group, parameters) => ({
    parameters: deliveryParameters(group, parameters),
    examples: group === 'image' ? IMAGE_EXAMPLES : fileExamples({ path: EXAMPLE_NAMES[group] }),
  }),
  first: corsPublicRead,

  handlerOf(services) {
    const { clients, cacheWriter } = services
    const send = storedFiles(services)
    return createOrRedirect(services)(async (req, res) => {
      const group = groupOf(req)
      const { client, path, query } = callerByToken(req, clients, isFileWithin)
      await send(req, res, { client, group, query, findPath: async () => path, cacheWriter })
    })
  },
}

/** A stored object, unmodified. */
const deliverObject: ServedEndpoint<Services> = {
  route: 'GET /v1/bucket/:token/*path',
  id: 'getObject',
  tag: 'Delivery',
  summary: 'Deliver an object of the bucket, unchanged',
  access: 'signature or cookie',
  parameters: [DOWNLOAD, ...SIGNATURE, ...CONDITIONS],
  responses: { ...SENT_FILE, ...REDIRECTED, ...MOVED },
  problems: [
    ...SIGNATURE_PROBLEMS,
    '400 bad_parameter',
    ...FILE_PROBLEMS,
    ...SCAN_PROBLEMS,
    ...SENT_PROBLEMS,
  ],
  examples: [
    {
      id: 'original',
      summary: 'An original',
      parameters: { token: EXAMPLE.token, path: EXAMPLE.key },
      status: 200,
    },
  ],
  first: corsPublicRead,

  handlerOf(services) {
    const { clients, deliveries, caching, fullContentRange, readers, sendElsewhere, cacheWriter } = services
    const { baseUrl, ignoredParams } = services
    return createOrRedirect(services)(async (req, res) => {
      const { client, path, query } = callerByToken(req, clients, isFileWithin)
      const signal = clientGone(res)
      const delivery = await deliveries.object({
        client,
        caller: anonymousCallerOf(req),
        path,
        preferences: preferencesOf(req.headers),
        signal,
      })
      const given = limitedPairs(query).find(
        ([name]) => name !== DOWNLOAD_WORD && !isIgnoredParam(name, ignoredParams),
      )
      if (given) throw parameterOfObject(given, { path, baseUrl, token: client.token })
      const lifetime = caching.lifetimeOf(client)
      caching.setTags(res, client, delivery.key)
      const addToCache = cacheWriter.adderOf(req, res, { client, delivery, lifetime })
      const sent = { lifetime, addToCache, sendElsewhere }
      const options = { etag: etagOf(delivery), fullContentRange, readers, signal, ...sent }
      await sendDelivery(req, res, { delivery, ...options })
    })
  },
}

/** The deliveries of stored files. */
export const DELIVERIES = [deliverObject, deliverFile]

/** 400: if the parameters were ignored, the unmodified file would look like a failed transformation. */
function parameterOfObject(
  [name, value]: readonly [name: string, value: string],
  { path, ...place }: { path: string; baseUrl: string; token: string },
): Problem {
  const param = truncate(name)
  const { full } = parsePath(path)
  return new Problem({
    status: 400,
    code: 'bad_parameter',
    detail:
      `expected no parameters at the direct URL of an object but received ${JSON.stringify(param)}` +
      (full ? `; transform at ${deliveryUrl(full, place)}` : ''),
    members: { param, expected: 'no parameters', received: truncate(value) },
  })
}
