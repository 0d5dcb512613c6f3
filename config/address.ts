import ipaddr from 'ipaddr.js'

/** Where webhooks may go: an address of the web that names no user. */
export function isEndpoint(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/**
 * A range of addresses. Four decimal parts, and nothing behind the mask: `10.1/16` and `10.1.2.3/8` open more than they
 * seem to.
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

/** How many proxies there are in front, or their ranges; undefined for anything else. As Express takes them. */
export function readProxies(value: string): number | readonly string[] | undefined {
  if (/^(\d|10)$/.test(value)) return Number(value)
  const ranges = value.split(/[\s,]+/).filter((each) => each !== '')
  return ranges.length > 0 && ranges.every(isRange) ? ranges : undefined
}

/** The address of a Redis as it is, or undefined. */
export function readRedisUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined
  const { protocol, hostname, pathname, username, password } = new URL(value)
  const fits = /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d{0,5})?$/.test(pathname)
  return fits && canDecode(username) && canDecode(password) ? value : undefined
}

/** An address that paths can be put behind, without slashes at its end, or undefined. */
export function readBaseUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined
  const url = new URL(value)
  if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password)
    return undefined
  return url.href.replace(/\/+$/, '')
}

/** Whether each percent sign begins a byte of UTF-8. */
function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
