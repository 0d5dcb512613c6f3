import { isIgnoredParam } from '../../core/plugin-api/query-names.ts'
import { SIGNATURE_WORD } from '../../core/signing/signed-url.ts'
import { MAX_PAIRS } from '../request.ts'

/**
 * Names the responses to a request target: the target without parameters that are ignored, so that a link has one name
 * in every campaign.
 */
export type HotTarget = (target: string) => string

/** @param ignoredParams ignored names in addition to the built-in ones */
export function createHotTarget(ignoredParams: readonly string[]): HotTarget {
  const isIgnored = (pair: string, ignored: readonly string[]) => {
    const end = pair.indexOf('=')
    return isIgnoredParam(end < 0 ? pair : pair.slice(0, end), ignored)
  }
  return (target) => {
    const at = target.indexOf('?')
    if (at < 0) return target
    const pairs = target.slice(at + 1).split('&')
    // It will be refused.
    if (pairs.length > MAX_PAIRS) return target
    // A signature covers the names that only the operator ignores.
    const isSigned = pairs.some((pair) => pair.startsWith(`${SIGNATURE_WORD}=`))
    const kept = pairs.filter((pair) => !isIgnored(pair, isSigned ? [] : ignoredParams))
    if (kept.length === pairs.length) return target
    const path = target.slice(0, at)
    return kept.length > 0 ? `${path}?${kept.join('&')}` : path
  }
}
