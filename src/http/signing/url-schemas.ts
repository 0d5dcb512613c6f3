import { z } from 'zod'
import { boundedArray, boundedInteger } from '../../core/bounded-schemas.ts'
import { bodyOf, named, replyOf } from '../endpoint/named.ts'
import { instant } from '../wire/instant.ts'

const URL_MAX_LENGTH = 4000
const URLS_MAX = 1000
// Ten years.
const EXPIRES_MAX_SECONDS = 315_360_000

const someUrl = z
  .string('a delivery URL of this client')
  .max(URL_MAX_LENGTH, `a URL of at most ${URL_MAX_LENGTH} characters`)
  .describe('Delivery URL with the token of this client, absolute or from `/v1/`.')
/** The request for signatures. */
export const signUrlRequest = bodyOf(
  'UrlSignRequest',
  {
    url: someUrl.optional(),
    urls: boundedArray(someUrl, {
      min: 1,
      max: URLS_MAX,
      expected: `an array of 1 to ${URLS_MAX} delivery URLs of this client`,
    })
      .describe('Several URLs, instead of url.')
      .optional(),
    expiresIn: boundedInteger({
      min: 1,
      max: EXPIRES_MAX_SECONDS,
      expected: `an integer number of seconds from 1 to ${EXPIRES_MAX_SECONDS}`,
    })
      .describe('When the URLs expire, in seconds. Default: never.')
      .optional(),
  },
  'an object of url or urls, and of expiresIn',
)
/** A signed URL. */
export const signedUrl = replyOf('SignedUrl', 'A signed delivery URL.', {
  url: z.string().describe('Signed delivery URL.'),
  expiresAt: instant('When the URL expires. Absent: it never expires.').optional(),
})
/** The outcomes of several URLs. */
export const signedUrls = replyOf('SignedUrls', 'The outcome for each URL, in the order of the request.', {
  results: z.array(
    z.union([
      signedUrl.extend({ status: z.literal('signed') }),
      z.object({
        status: z.literal('error'),
        code: z.string().describe('Code of the problem.'),
        detail: z.string().describe('Text for a person.'),
      }),
    ]),
  ),
})
/** The response. */
export const urlSignatures = named(
  'UrlSignatures',
  z.union([signedUrl, signedUrls]).describe('One signed URL, or several outcomes.'),
)
