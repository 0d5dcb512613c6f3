import ipaddr from 'ipaddr.js'
import { listOf, type Variable } from './variable.ts'

/** Whether the text is a valid webhook URL: http or https, without user name and password. */
export function isEndpoint(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/** Whether the text is a port from 1 to 65535. */
export function isPort(value: string): boolean {
  return /^[1-9]\d{0,4}$/.test(value) && Number(value) <= 65_535
}

/**
 * Whether the text is a range of IP addresses. IPv4 needs four decimal parts, and the bits behind the mask must be 0:
 * `10.1/16` and `10.1.2.3/8` would allow more than they seem to.
 */
export function isRange(value: string): boolean {
  if (value.includes('%') || !ipaddr.isValidCIDR(value)) return false
  const [address] = ipaddr.parseCIDR(value)
  if (address.kind() === 'ipv6')
    return ipaddr.IPv6.networkAddressFromCIDR(value).toString() === address.toString()
  return (
    ipaddr.IPv4.isValidCIDRFourPartDecimal(value) &&
    ipaddr.IPv4.networkAddressFromCIDR(value).toString() === address.toString()
  )
}

/** A list of private ranges, to which requests may be sent. */
export function privateRanges(help: string): Variable<readonly string[]> {
  return listOf({
    item: isRange,
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
  return ranges.length > 0 && ranges.every(isRange) ? ranges : undefined
}

/** Returns a URL to which paths can be appended, without slashes at its end; undefined for an invalid one. */
export function readBaseUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined
  const url = new URL(value)
  if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password)
    return undefined
  return url.href.replace(/\/+$/, '')
}
