import { assetFromBytes } from '../../core/bytes/asset.ts'
import { isIgnoredParam } from '../../core/plugin-api/query-names.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import { nearest } from '../../core/text/did-you-mean.ts'
import { truncate } from '../../core/text/truncate.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { FileInfos } from '../../service/delivery/file-info.ts'
import type { Redirects } from '../../service/moves/redirects.ts'
import type { Caching } from '../caching/caching.ts'
import { PASSING } from '../caching/lifetime.ts'
import { callerByToken } from '../caller/caller.ts'
import { anonymousCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { isFileWithin } from '../caller/signed-cookie.ts'
import { ANY_FILE } from '../documents/contents.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { flagParameter } from '../documents/parameters.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { tagOf } from '../entity-tag.ts'
import { createOrRedirect } from '../moves/redirect.ts'
import type { Readers } from '../readers/readers.ts'
import { clientGone, flagOf, groupOf, limitedPairs, type QueryPairs } from '../request.ts'
import { fileInformation, informationToWire } from '../wire/information.ts'
import { corsPublicRead } from './cors.ts'
import { SIGNATURE } from './parameters.ts'
import { FILE_PROBLEMS, SCAN_PROBLEMS, SIGNATURE_PROBLEMS } from './problems.ts'
import { CONDITIONS, MOVED, VALIDATORS } from './responses.ts'
import { sendAsset } from './send.ts'

/** The services that handle these requests. */
export interface Services {
  clients: Clients
  informations: FileInfos
  redirects: Redirects
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  limits: Limits
  caching: Caching
  readers: Readers
  /** Query parameters that are ignored, in addition to the built-in ones. */
  ignoredParams: readonly string[]
}

// The parameter that adds the GPS position of a photo.
const LOCATION = 'location'

/** Information about an original, as JSON. */
export const getInformation: ServedEndpoint<Services> = {
  route: 'GET /v1/:group/info/:token/*path',
  id: 'getFileInformation',
  tag: 'Delivery',
  summary: 'Get information about an original',
  access: 'signature or cookie',
  parameters: [flagParameter('location', 'Adds the GPS position of a photo.'), ...SIGNATURE, ...CONDITIONS],
  responses: {
    200: {
      description: 'The information.',
      content: { 'application/json': { schema: fileInformation } },
      headers: [...VALIDATORS],
    },
    206: {
      description: 'The requested byte ranges.',
      content: ANY_FILE,
      headers: [...VALIDATORS, 'Content-Range'],
    },
    304: { description: 'The information has not changed.', headers: [...VALIDATORS] },
    ...MOVED,
  },
  examples: [
    {
      id: 'photo',
      summary: 'Information about a photo',
      parameters: { group: 'image', token: EXAMPLE.token, path: EXAMPLE.sourceName },
      status: 200,
      response: {
        sourceName: EXAMPLE.sourceName,
        originalName: 'photo.jpg',
        mimeType: 'image',
        format: 'jpeg',
        mediaType: 'image/jpeg',
        size: 137628,
        sha256: 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447',
        uploadedAt: '2026-11-30T12:00:00.000Z',
        width: 1200,
        height: 800,
        pages: 1,
        hasAlpha: false,
        colorSpace: 'srgb',
        dominantColor: '#b01818',
        thumbHash: '3OcRJYB4d3h/iIeHeEh3eIhw+j3A',
        blurHash: 'LEHV6nWB2yk8pyo0adR*.7kCMdnj',
        lqip: 'data:image/webp;base64,UklGRlwAAABXRUJQVlA4IFAAAADQAwCdASoQAAsAAUAmJaQAA3AA/u3hAAA=',
      },
    },
  ],
  problems: [
    ...SIGNATURE_PROBLEMS,
    '400 bad_parameter',
    ...FILE_PROBLEMS,
    ...SCAN_PROBLEMS,
    '400 unknown_parameter',
    '400 information_of_derivative',
    '412 precondition_failed',
    '416 range_not_satisfiable',
    '422 not_transformable',
    '422 truncated_image',
    '422 encrypted_file',
    '422 no_cover',
    '422 too_much_memory',
    '429 rate_limited',
    '500 file_damaged',
    '501 not_installed',
  ],
  first: corsPublicRead,

  handlerOf(services) {
    const { clients, informations, limits, caching, ignoredParams, readers } = services
    return createOrRedirect(services)(async (req, res) => {
      const group = groupOf(req)
      const { client, path, query } = callerByToken(req, clients, isFileWithin)
      const withLocation = wantsLocation(limitedPairs(query), ignoredParams)
      const signal = clientGone(res)
      const found = await informations.ofPath({
        client,
        caller: anonymousCallerOf(req),
        group,
        path,
        signal,
        beforeRender: () => consumeRateLimit(req, res, { limits, limited: 'derivative', client }),
      })
      const bytes = Buffer.from(JSON.stringify(informationToWire(found, { withLocation })))
      caching.setTags(res, client, found.record.key)
      await sendAsset(req, res, {
        asset: assetFromBytes(bytes, {
          mediaType: 'application/json',
          lastModified: new Date(found.record.storedAt),
        }),
        // A tag of this JSON, not of the file: a later version may return more information.
        etag: tagOf(bytes),
        fullContentRange: 'never',
        variesBy: [],
        // More information may be available soon: a PDF was rendered, or a new version of a library reads the format.
        lifetime: found.problem || found.isProvisional ? PASSING : caching.lifetimeOf(client),
        readers,
        signal,
      })
    })
  },
}

function wantsLocation(query: QueryPairs, ignoredParams: readonly string[]): boolean {
  const unknown = query.find(([name]) => name !== LOCATION && !isIgnoredParam(name, ignoredParams))
  if (unknown) throw unknownParameter(unknown[0])
  return flagOf(query, LOCATION)
}

function unknownParameter(word: string): Problem {
  const param = truncate(word)
  const near = nearest(word, [LOCATION])
  return new Problem({
    status: 400,
    code: 'unknown_parameter',
    detail: `there is no parameter ${JSON.stringify(param)} for information; ${near ? `did you mean "${near}"?` : `there is ${LOCATION}`}`,
    members: { param, ...(near ? { nearest: near } : {}) },
  })
}
