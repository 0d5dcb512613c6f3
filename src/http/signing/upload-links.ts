import type { Request, Response } from 'express'
import { z } from 'zod'
import { boundedArray } from '../../core/bounded-schemas.ts'
import { folderWithin, type Grant } from '../../core/clients/grant.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { badParameter } from '../../core/problem.ts'
import { EXPIRES_MAX_SECONDS, PIXELS_MAX, USES_MAX } from '../../core/signing/upload-link.ts'
import type { LinkRequest, SignedLinks } from '../../service/upload/links/upload-links.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { query } from '../documents/parameters.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { bodyOf, replyOf } from '../endpoint/named.ts'
import type { Reply } from '../endpoint/reply.ts'
import { checkNames, onlyValue, type QueryPairs, queryPairs, wildcardPath } from '../request.ts'
import { stateOf } from '../request-state.ts'
import { instant, iso } from '../wire/instant.ts'

/** The services that handle these requests. */
export interface Services {
  signedLinks: SignedLinks
  limits: Limits
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

const EXPIRATION = 'expirationIn'
const TYPES_MAX = 50
const EXPECTED_SECONDS = `an integer number of seconds from 1 to ${EXPIRES_MAX_SECONDS}`

const pixels = (description: string) =>
  z
    .number(`an integer number of pixels from 1 to ${PIXELS_MAX}`)
    .meta({ type: 'integer', minimum: 1, maximum: PIXELS_MAX })
    .describe(description)

const signRequest = bodyOf('UploadLinkRequest', {
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
})
const uploadLink = replyOf('UploadLink', 'A signed upload link.', {
  url: z.string().describe('URL to which a file can be uploaded without a secret.'),
  method: z.literal('PUT').describe('Method for the file as the body. POST works for a form.'),
  expiresAt: instant('When the link expires.'),
})

const EXAMPLE_LINK = {
  url: `${EXAMPLE.baseUrl}/v1/upload/sign/${EXAMPLE.linkId}/${EXAMPLE.linkSignature}/avatars?expirationIn=3600`,
  method: 'PUT',
  expiresAt: '2026-11-30T13:00:00.000Z',
}

export const createUploadLink = endpoint({
  route: 'POST /v1/sign',
  id: 'createUploadLink',
  tag: 'Links',
  summary: 'Create a signed upload link',
  access: { secret: 'upload' },
  body: signRequest,
  once: true,
  bodyMaxBytes: 64 * 1024,
  responses: { 200: json(uploadLink, 'The link.', ['RateLimit', 'RateLimit-Policy']) },
  problems: ['400 bad_path', '429 rate_limited'],
  audit: 'link.create',
  examples: [
    {
      id: 'avatar',
      summary: 'One image of at most 5 MB, within an hour',
      body: { folder: 'avatars', expiresIn: 3600, maxBytes: 5000000, types: ['image/*'] },
      status: 200,
      response: EXAMPLE_LINK,
    },
  ],

  handle: (services: Services, { req, res, caller, body: { expiresIn, folder, ...link } }) =>
    linkReply({ req, res }, { ...link, folder, grant: caller, expiresInSeconds: expiresIn }, services),
})

export const getUploadLink = endpoint({
  route: 'GET /v1/sign/*path',
  path: '/v1/sign/{folder}',
  id: 'getUploadLink',
  tag: 'Links',
  summary: 'Create a signed upload link, by GET',
  access: { secret: 'upload' },
  parameters: [
    query(
      EXPIRATION,
      'When the link expires, in seconds.',
      { type: 'integer', minimum: 1, maximum: EXPIRES_MAX_SECONDS },
      { required: true },
    ),
  ],
  responses: { 200: json(uploadLink, 'The link.') },
  problems: ['400 bad_parameter', '400 bad_path', '429 rate_limited'],
  audit: 'link.create',
  examples: [
    {
      id: 'avatar',
      summary: 'A link for an hour',
      parameters: { folder: 'avatars', expirationIn: '3600' },
      status: 200,
      response: EXAMPLE_LINK,
    },
  ],

  handle(services: Services, { req, res, caller }) {
    const path = wildcardPath(req)
    // `_` is no folder.
    const folder = path === '_' ? undefined : path
    const expiresInSeconds = expirationOf(queryPairs(req))
    return linkReply({ req, res }, { grant: caller, folder, expiresInSeconds }, services)
  },
})

type GrantedLink = Omit<LinkRequest, 'until'> & { grant: Grant }

async function linkReply(
  { req, res }: { req: Request; res: Response },
  { grant, ...request }: GrantedLink,
  { signedLinks, limits, baseUrl }: Services,
): Promise<Reply> {
  const { client, until } = grant
  const folder = folderWithin(request.folder, grant)
  const { url, expiresAt: at } = signedLinks.sign(client, { ...request, folder, until }, baseUrl)
  // After all checks: a refused request consumes no points.
  await consumeRateLimit(req, res, { limits, limited: 'sign', client })
  const expiresAt = iso(at)
  stateOf(req).audited = { target: folder, details: { expiresAt } }
  const link: z.input<typeof uploadLink> = { url, method: 'PUT', expiresAt }
  return { json: link }
}

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
