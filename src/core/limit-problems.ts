import { NOT_TRANSFORMABLE, Problem, retryAfter } from './problem.ts'
import { BROKEN, FORMAT_TOO_SMALL } from './transform-problems.ts'

const VARIANT_LIMIT = 'variant_limit'
const OUTPUT_TOO_LARGE = 'output_too_large'
// Derivatives in progress end within minutes, and can be evicted from then on.
const RETRY_SECONDS = 60

/** Problem 429: there is no room for a derivative that has to be stored, and no other one can be evicted for it. */
export function tooManyVariants(limit: number): Problem {
  const { members, headers } = retryAfter(RETRY_SECONDS)
  return new Problem({
    status: 429,
    code: VARIANT_LIMIT,
    detail: `There is no room for another derivative of this file (limit ${limit}), and none can be evicted. Retry after ${RETRY_SECONDS} s.`,
    members: { limit, ...members },
    headers: {
      ...headers,
      // Without a window: draft-ietf-httpapi-ratelimit-headers-10 omits it for limits that do not recover with time.
      'RateLimit-Policy': `"variants";q=${limit}`,
      RateLimit: '"variants";r=0',
    },
  })
}

/** Problem 422: the output of a transformation would exceed the limit. */
export function outputTooLarge(maxBytes: number): Problem {
  return new Problem({
    status: 422,
    code: OUTPUT_TOO_LARGE,
    detail: `The output of this transformation would be larger than ${maxBytes} bytes. Request a smaller size, a shorter part or another format.`,
    members: { limit: maxBytes },
  })
}

/** Whether a transformation failed only because of a limit: the file itself is not broken. */
export function isLimitProblem(error: unknown): error is Problem {
  if (!(error instanceof Problem)) return false
  const { code, members } = error
  if (code === NOT_TRANSFORMABLE) return members.reason !== BROKEN
  return code === FORMAT_TOO_SMALL || code === VARIANT_LIMIT || code === OUTPUT_TOO_LARGE
}
