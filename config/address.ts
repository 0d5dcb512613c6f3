import { plainHttpUrl } from '../src/core/net/http-url.ts'
import { isCidr } from '../src/core/net/ip-ranges.ts'
import { listOf, type Variable } from './variable.ts'

/** Whether the text is a port from 1 to 65535. */
export function isPort(value: string): boolean {
  return /^[1-9]\d{0,4}$/.test(value) && Number(value) <= 65_535
}

/** A list of private ranges, to which requests may be sent. */
export function privateRanges(help: string): Variable<readonly string[]> {
  return listOf({
    item: isCidr,
    expected: 'IP ranges like 10.1.0.0/16 or fd00::/8, separated by spaces or commas',
    help,
  })
}

/**
 * Parses the number of proxies in front, or their ranges; undefined for any other text. The result is a value of
 * Express's `trust proxy`.
 */
export function readProxies(value: string): number | readonly string[] | undefined {
  if (/^(\d|10)$/.test(value)) return Number(value)
  const ranges = value.split(/[\s,]+/).filter((each) => each !== '')
  return ranges.length > 0 && ranges.every(isCidr) ? ranges : undefined
}

/** Returns a URL to which paths can be appended, without slashes at its end; undefined for an invalid one. */
export function readBaseUrl(value: string): string | undefined {
  return plainHttpUrl(value)?.href.replace(/\/+$/, '')
}
