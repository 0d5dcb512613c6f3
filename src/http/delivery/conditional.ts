import type { IncomingMessage } from 'node:http'
import { parseHttpDate } from './http-date.ts'

/**
 * The result of a request's conditions. `failed`: respond with 412. `not-modified`: respond with 304. `whole`: send the complete
 * file, because `If-Range` names another version. `proceed`: send what was requested.
 */
export type Verdict = 'failed' | 'not-modified' | 'whole' | 'proceed'

/**
 * Evaluates the conditions of a GET or HEAD in the order of precedence.
 *
 * @param current `etag` is quoted and strong; `lastModified` is compared in seconds, like HTTP dates
 * @see RFC 9110 section 13.2.2
 */
export function evaluateConditions(
  { headers }: IncomingMessage,
  current: { etag: string; lastModified: Date },
): Verdict {
  const modifiedAt = Math.floor(current.lastModified.getTime() / 1000) * 1000
  // An invalid date is ignored: comparisons with NaN are false.
  const since = (header = '') => parseHttpDate(header) ?? Number.NaN

  if (headers['if-match'] !== undefined) {
    if (!listed(headers['if-match'], current.etag, 'strong')) return 'failed'
  } else if (modifiedAt > since(headers['if-unmodified-since'])) {
    return 'failed'
  }

  if (headers['if-none-match'] !== undefined) {
    if (listed(headers['if-none-match'], current.etag, 'weak')) return 'not-modified'
  } else if (modifiedAt <= since(headers['if-modified-since'])) {
    return 'not-modified'
  }

  const ifRange = headers['if-range']
  if (typeof ifRange !== 'string') return 'proceed'
  const same = ifRange.includes('"') ? ifRange === current.etag : since(ifRange) === modifiedAt
  return same ? 'proceed' : 'whole'
}

/** Whether a request that changes a file applies to this version. Without `If-Match`, it applies to any. @see RFC 9110 section 13.1.1 */
export function ifMatchHolds({ headers }: IncomingMessage, etag: string): boolean {
  return headers['if-match'] === undefined || listed(headers['if-match'], etag, 'strong')
}

// Matches whole elements of a list, so that a part of another text is no match.
const TAG = /(?:^|,)[ \t]*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")(?=[ \t]*(?:,|$))/g

/** RFC 9110 section 8.8.3.2: in a strong comparison, weak tags never match; in a weak one, only the quoted text is compared. */
function listed(header: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (header === '*') return true
  return [...header.matchAll(TAG)].some(
    ([, tag = '']) => (comparison === 'weak' ? tag.replace(/^W\//, '') : tag) === etag,
  )
}
