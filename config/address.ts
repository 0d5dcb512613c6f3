import ipaddr from 'ipaddr.js'

/** Whether this is a valid webhook receiver: an http or https URL without a user name. */
export function isEndpoint(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/** Whether this is a port from 1 to 65535. */
export function isPort(value: string): boolean {
  return /^[1-9]\d{0,4}$/.test(value) && Number(value) <= 65_535
}

/**
 * A range of addresses. Four decimal parts, and nothing behind the mask: `10.1/16` and `10.1.2.3/8` open more than they
 * Whether this is an IP range. It needs four decimal parts, and no bits outside the mask: `10.1/16` and `10.1.2.3/8`
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

/** The number of proxies or their IP ranges, in the format of Express; undefined when invalid. */
export function readProxies(value: string): number | readonly string[] | undefined {
  if (/^(\d|10)$/.test(value)) return Number(value)
  const ranges = value.split(/[\s,]+/).filter((each) => each !== '')
  return ranges.length > 0 && ranges.every(isRange) ? ranges : undefined
}

/** The URL of a Redis server; undefined when invalid. */
export function readRedisUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined
  const { protocol, hostname, pathname, username, password } = new URL(value)
  const fits = /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d{0,5})?$/.test(pathname)
  return fits && canDecode(username) && canDecode(password) ? value : undefined
}

/** A URL without trailing slashes, to append paths to; undefined when invalid. */
export function readBaseUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined
  const url = new URL(value)
  if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password)
    return undefined
  return url.href.replace(/\/+$/, '')
}

/** Whether the percent-encoding is valid UTF-8. */
function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
