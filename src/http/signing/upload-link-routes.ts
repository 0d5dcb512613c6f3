import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { boundedArray } from '../../core/bounded-schemas.ts'
import { folderWithin, type Grant } from '../../core/clients/grant.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { badParameter } from '../../core/problem.ts'
import { EXPIRES_MAX_SECONDS, PIXELS_MAX, USES_MAX } from '../../core/signing/upload-link.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { LinkRequest, SignedLinks } from '../../service/upload/upload-links.ts'
import { jsonBody } from '../body/json.ts'
import { checkedBody } from '../body/parse.ts'
import { callerBySecret } from '../caller/caller.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { methodNotAllowed } from '../problem.ts'
import { checkNames, onlyValue, type QueryPairs, queryPairs, wildcardPath } from '../request.ts'
import { stateOf } from '../request-state.ts'
import type { UploadLink } from '../wire/links.ts'

interface Dependencies {
  clients: Clients
  signedLinks: SignedLinks
  limits: Limits
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

const BODY_MAX_BYTES = 64 * 1024
const EXPIRATION = 'expirationIn'
const TYPES_MAX = 50
const EXPECTED_SECONDS = `an integer number of seconds from 1 to ${EXPIRES_MAX_SECONDS}`

const pixels = (description: string) =>
  z
    .number(`an integer number of pixels from 1 to ${PIXELS_MAX}`)
    .meta({ type: 'integer', minimum: 1, maximum: PIXELS_MAX })
    .describe(description)

/** A request for an upload link. */
export const signRequest = z.strictObject(
  {
    folder: z.string('a string').describe('Folder of the file.').optional(),
    expiresIn: z
      .number(EXPECTED_SECONDS)
      .meta({ type: 'integer', minimum: 1, maximum: EXPIRES_MAX_SECONDS })
      .describe('When the link expires, in seconds.'),
    maxBytes: z
      .number('an integer number of bytes from 1')
      .meta({ type: 'integer', minimum: 1 })
      .describe('Maximum size of the file.')
      .optional(),
    types: boundedArray(z.string('a media type'), {
      min: 1,
      max: TYPES_MAX,
      expected: `an array of 1 to ${TYPES_MAX} media types`,
    })
      .describe('Accepted media types, such as `image/*`.')
      .optional(),
    minPixels: pixels('Minimum of width × height of an image.').optional(),
    maxPixels: pixels('Maximum of width × height of an image.').optional(),
    decodable: z
      .boolean('true or false')
      .describe('Accepts only images that can be decoded, and video and audio whose headers can be read.')
      .optional(),
    uses: z
      .number(`an integer number of uses from 1 to ${USES_MAX}`)
      .meta({ type: 'integer', minimum: 1, maximum: USES_MAX })
      .describe('How often the link can be used.')
      .optional(),
  },
  'an object of folder, expiresIn, maxBytes, types, minPixels, maxPixels, decodable and uses',
)

/**
 * `POST /v1/sign` and `GET /v1/sign/<folder>?expirationIn=<seconds>`: return a link with which one file can be uploaded
 * without a secret. `_` means no folder.
 */
export function signRoutes({
  clients,
  signedLinks,
  limits,
  baseUrl,
  minBytesPerSecond,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const respondLink = async (req: Request, res: Response, { grant, ...request }: GrantedLink) => {
    const { client, until } = grant
    const folder = folderWithin(request.folder, grant)
    const { url, expiresAt } = signedLinks.sign(client, { ...request, folder, until }, baseUrl)
    // After all checks: a refused request consumes no points.
    await consumeRateLimit(req, res, { limits, limited: 'sign', client })
    stateOf(req).audited = { target: folder, details: { expiresAt: new Date(expiresAt).toISOString() } }
    res.setHeader('Cache-Control', 'no-store')
    const link: UploadLink = { url, method: 'PUT', expiresAt: new Date(expiresAt).toISOString() }
    res.json(link)
  }

  routes.post('/v1/sign', async (req, res) => {
    const grant = callerBySecret(req, clients, 'upload')
    const body = await jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond })
    const { expiresIn, folder, ...link } = checkedBody(signRequest, body)
    await respondLink(req, res, { grant, ...link, folder, expiresInSeconds: expiresIn })
  })
  routes.all('/v1/sign', methodNotAllowed('POST'))

  routes.get('/v1/sign/*path', async (req, res) => {
    const grant = callerBySecret(req, clients, 'upload')
    const path = wildcardPath(req)
    const folder = path === '_' ? undefined : path
    await respondLink(req, res, { grant, folder, expiresInSeconds: expirationOf(queryPairs(req)) })
  })
  routes.all('/v1/sign/*path', methodNotAllowed('GET', 'HEAD'))
  return routes
}

type GrantedLink = Omit<LinkRequest, 'until'> & { grant: Grant }

/** The expiry in seconds. Its bounds are checked where links are created. @throws Problem 400 */
function expirationOf(query: QueryPairs): number {
  checkNames(query, [EXPIRATION])
  const received = onlyValue(query, EXPIRATION)
  if (received !== undefined && /^\d{1,6}$/.test(received)) return Number(received)
  throw badParameter({
    param: EXPIRATION,
    expected: EXPECTED_SECONDS,
    ...(received === undefined ? {} : { received }),
  })
}
