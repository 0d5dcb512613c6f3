import type { IncomingMessage } from 'node:http'
import { parseHttpDate } from './http-date.ts'

/**
 * What a request's conditions say: `failed` is a 412, `not-modified` a 304; `whole`: go on, but without the range,
 * because `If-Range` names another version; `proceed`: go on.
 */
export type Verdict = 'failed' | 'not-modified' | 'whole' | 'proceed'

/**
 * Evaluates the conditions of a GET or HEAD in the order of precedence.
 *
 * @param current `etag` quoted and strong; `lastModified` counts to the second, as HTTP dates do
 * @see RFC 9110 section 13.2.2
 */
export function evaluateConditions(
  { headers }: IncomingMessage,
  current: { etag: string; lastModified: Date },
): Verdict {
  const modifiedAt = Math.floor(current.lastModified.getTime() / 1000) * 1000
  // What is no date is passed over: nothing compares with NaN.
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

/** Whether a request that changes something is meant for this version; one without `If-Match` is for any. @see RFC 9110 section 13.1.1 */
export function ifMatchHolds({ headers }: IncomingMessage, etag: string): boolean {
  return headers['if-match'] === undefined || listed(headers['if-match'], etag, 'strong')
}

// A whole element of a list, so that no part of another text counts.
const TAG = /(?:^|,)[ \t]*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")(?=[ \t]*(?:,|$))/g

/** RFC 9110 section 8.8.3.2: a weak tag never matches strongly; weakly, only what is quoted counts. */
function listed(header: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (header === '*') return true
  return [...header.matchAll(TAG)].some(
    ([, tag = '']) => (comparison === 'weak' ? tag.replace(/^W\//, '') : tag) === etag,
  )
}
