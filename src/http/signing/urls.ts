import type { z } from 'zod'
import { type Grant, isAllWithin } from '../../core/clients/grant.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { DOWNLOAD_WORD, WAIT_WORD } from '../../core/plugin-api/query-names.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { badParameter, fileNotFound, Problem } from '../../core/problem.ts'
import { EXPIRY_WORD, SIGNING_WORDS, signUrl, withoutSignature } from '../../core/signing/signed-url.ts'
import { percentDecoded } from '../../core/text/percent-decoded.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Deliveries } from '../../service/delivery/deliveries.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { FETCHED_PROBLEMS, FILE_PROBLEMS, TRANSFORMED_PROBLEMS } from '../delivery/problems.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { iso } from '../wire/instant.ts'
import { checkAliasTarget } from './alias-target.ts'
import { expiryWithin, signingKey } from './signing-key.ts'
import { type signedUrl, type signedUrls, signUrlRequest, urlSignatures } from './url-schemas.ts'

/** The services that handle these requests. */
export interface Services {
  clients: Clients
  limits: Limits
  deliveries: Pick<Deliveries, 'plan'>
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

const { baseUrl: EXAMPLE_BASE, token, sourceName } = EXAMPLE

export const signDeliveryUrl = endpoint({
  route: 'POST /v1/sign/url',
  // GET requests a link for the folder "url".
  alsoAllows: ['GET', 'HEAD'],
  id: 'signUrl',
  tag: 'Links',
  summary: 'Sign delivery URLs',
  description: 'The client needs a URL key, which the operator adds.',
  access: { secret: 'read' },
  body: signUrlRequest,
  // 1000 URLs of 1000 characters. Longer ones fit in smaller numbers.
  bodyMaxBytes: 1024 * 1024,
  responses: {
    200: json(urlSignatures, 'The signed URL; with `urls`, the outcome for each of them.', [
      'RateLimit',
      'RateLimit-Policy',
    ]),
  },
  problems: [
    ...FILE_PROBLEMS,
    '404 alias_not_found',
    ...FETCHED_PROBLEMS,
    ...TRANSFORMED_PROBLEMS,
    '409 client_conflict',
  ],
  examples: [
    {
      id: 'hour',
      summary: 'A URL for an hour',
      body: { url: `/v1/image/upload/${token}/${sourceName}?w=300`, expiresIn: 3600 },
      status: 200,
      response: {
        url: `${EXAMPLE_BASE}/v1/image/upload/${token}/${sourceName}?w=300&exp=1796040000&s=1.c2lnbmF0dXJl`,
        expiresAt: '2026-11-30T13:00:00.000Z',
      },
    },
    {
      id: 'several',
      summary: 'Several URLs',
      body: { urls: [`/v1/image/upload/${token}/${sourceName}?w=300`, '/v1/zip'] },
      status: 200,
      response: {
        results: [
          {
            status: 'signed',
            url: `${EXAMPLE_BASE}/v1/image/upload/${token}/${sourceName}?w=300&s=1.c2lnbmF0dXJl`,
          },
          {
            status: 'error',
            code: 'bad_parameter',
            detail: 'expected a delivery URL with this client\'s token for url but received "/v1/zip"',
          },
        ],
      },
    },
  ],

  async handle({ clients, limits, deliveries, baseUrl }: Services, { req, res, caller, body }) {
    const { url, urls, expiresIn } = body
    if ((url === undefined) === (urls === undefined))
      throw badParameter({ param: 'the body', expected: 'exactly one of url and urls' })
    const key = signingKey(caller, clients)
    const expiresAt = expiryWithin(caller, expiresIn)
    const signed = (target: string): z.input<typeof signedUrl> => {
      const ending =
        expiresAt === undefined ? '' : `${target.includes('?') ? '&' : '?'}${EXPIRY_WORD}=${expiresAt}`
      return {
        url: `${baseUrl}${signUrl(`${target}${ending}`, key)}`,
        ...(expiresAt === undefined ? {} : { expiresAt: iso(1000 * expiresAt) }),
      }
    }
    const targetOf = (given: string) => ownTarget(given, { grant: caller, baseUrl, deliveries })
    // A single URL that is refused consumes no points. A batch is one request, whatever its results are.
    const target = url === undefined ? undefined : targetOf(url)
    await consumeRateLimit(req, res, { limits, limited: 'sign', client: caller.client })
    const response: z.input<typeof urlSignatures> =
      target === undefined
        ? { results: (urls ?? []).map((one) => resultOf(() => signed(targetOf(one)))) }
        : signed(target)
    return { json: response }
  },
})

// The route, the client's token and the path of a delivery URL.
const OWN_TARGET =
  /^\/v1\/(?:(?<group>\w+)\/(?:(?<isTransformed>upload)|(?<alias>alias)|info|(?<other>fetch(?:\/keep)?|foreign))|bucket|jobs)\/(?<token>[^/?#]+)\/(?<path>[^?#]+)(?:\?(?<query>[^#]*))?$/

/** The result for one URL of a batch: a refused URL does not fail the others. */
function resultOf(sign: () => z.input<typeof signedUrl>): z.input<typeof signedUrls>['results'][number] {
  try {
    return { status: 'signed', ...sign() }
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    return { status: 'error', code: error.code, detail: error.message }
  }
}

/** The path and query of a URL that this secret may sign. @throws Problem 400, 404 outside of its folder */
function ownTarget(
  url: string,
  { grant, baseUrl, deliveries }: { grant: Grant; baseUrl: string; deliveries: Pick<Deliveries, 'plan'> },
): string {
  const given = url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url
  // A `src` of a record may be signed. The new signature replaces that one.
  const target = withoutSignature(given)
  const {
    token,
    group = '',
    path = '',
    query = '',
    other,
    alias,
    isTransformed,
  } = OWN_TARGET.exec(target)?.groups ?? {}
  if (token !== grant.client.token)
    throw badParameter({ param: 'url', expected: "a delivery URL with this client's token", received: url })
  if (SIGNING_WORDS.some((name) => new URLSearchParams(query).has(name)))
    throw badParameter({
      param: 'url',
      expected: `a URL without ${SIGNING_WORDS.join(' and ')}`,
      received: url,
    })
  if (other !== undefined) {
    // A remote file and an object of another system are in no folder of uploads.
    if (grant.folder !== undefined) throw fileNotFound()
    return target
  }
  const parameters = [...new URLSearchParams(query)].filter(([name]) => !DELIVERY_PARAMS.has(name))
  if (alias !== undefined) {
    checkAliasTarget({ name: decodedOnce(path), group, query: parameters }, { grant, deliveries })
    return target
  }
  const meanings = parsePath(decodedOnce(path), { param: 'url' })
  if (grant.folder === undefined) return target
  // A signed URL is used without a secret. So all files that its path or parameters may mean must be in the folder.
  const { format } = meanings.full ?? meanings.short ?? {}
  if (!format || !isAllWithin(meanings, grant)) throw fileNotFound()
  if (isTransformed) deliveries.plan({ ...grant, format, query: parameters, preferences: {} })
  return target
}

// Parameters of the delivery, not of a transformation.
const DELIVERY_PARAMS: ReadonlySet<string> = new Set([DOWNLOAD_WORD, WAIT_WORD])

function decodedOnce(path: string): string {
  const decoded = percentDecoded(path)
  if (decoded !== undefined) return decoded
  throw badParameter({ param: 'url', expected: 'a URL in valid percent-encoding', received: path })
}
