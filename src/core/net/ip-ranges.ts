import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A range of IP addresses, parsed from `10.0.0.0/8` by {@link parseCidr}. */
export type Cidr = readonly [Address, number]

/** A range that is not public unicast, its purpose, and the source that defines it. */
type Row = readonly [cidr: string, name: string, source: string]

/** @see https://www.iana.org/assignments/iana-ipv4-special-registry */
const IPV4: readonly Row[] = [
  ['0.0.0.0/8', 'this network', 'RFC 791'],
  ['10.0.0.0/8', 'private', 'RFC 1918'],
  ['100.64.0.0/10', 'carrier-grade NAT', 'RFC 6598'],
  ['127.0.0.0/8', 'loopback', 'RFC 1122'],
  // A public address by its number. On Azure, the host machine answers at it and hands out the server's keys.
  ['168.63.129.16/32', 'cloud platform', 'Microsoft'],
  ['169.254.0.0/16', 'link-local', 'RFC 3927'],
  ['172.16.0.0/12', 'private', 'RFC 1918'],
  ['192.0.0.0/24', 'IETF protocols', 'RFC 6890'],
  ['192.0.2.0/24', 'documentation', 'RFC 5737'],
  ['192.31.196.0/24', 'AS112', 'RFC 7535'],
  ['192.52.193.0/24', 'AMT relays', 'RFC 7450'],
  ['192.88.99.0/24', '6to4 relays', 'RFC 7526'],
  ['192.168.0.0/16', 'private', 'RFC 1918'],
  ['192.175.48.0/24', 'AS112', 'RFC 7534'],
  ['198.18.0.0/15', 'benchmarking', 'RFC 2544'],
  ['198.51.100.0/24', 'documentation', 'RFC 5737'],
  ['203.0.113.0/24', 'documentation', 'RFC 5737'],
  ['224.0.0.0/4', 'multicast', 'RFC 5771'],
  ['255.255.255.255/32', 'broadcast', 'RFC 919'],
  ['240.0.0.0/4', 'reserved', 'RFC 1112'],
]

/** The position of an IPv4 address inside an IPv6 address: four bytes from `at`. `inverted`: all bits are inverted. */
interface Embedded {
  at: number
  inverted?: true
}

/** @see https://www.iana.org/assignments/iana-ipv6-special-registry */
const IPV6: ReadonlyArray<readonly [...Row, ...Embedded[]]> = [
  ['::/128', 'unspecified', 'RFC 4291'],
  ['::1/128', 'loopback', 'RFC 4291'],
  ['::/96', 'IPv4-compatible', 'RFC 4291', { at: 12 }],
  ['::ffff:0:0/96', 'IPv4-mapped', 'RFC 4291', { at: 12 }],
  ['::ffff:0:0:0/96', 'IPv4-translated', 'RFC 2765', { at: 12 }],
  ['64:ff9b::/96', 'NAT64', 'RFC 6052', { at: 12 }],
  ['64:ff9b:1::/48', 'NAT64', 'RFC 8215', { at: 12 }],
  ['100::/64', 'discard', 'RFC 6666'],
  // The first IPv4 address is that of the Teredo server, the second that of the client.
  ['2001::/32', 'Teredo', 'RFC 4380', { at: 4 }, { at: 12, inverted: true }],
  ['2001:2::/48', 'benchmarking', 'RFC 5180'],
  ['2001:10::/28', 'ORCHID', 'RFC 4843'],
  ['2001:20::/28', 'ORCHID', 'RFC 7343'],
  ['2001::/23', 'IETF protocols', 'RFC 2928'],
  ['2001:db8::/32', 'documentation', 'RFC 3849'],
  ['2002::/16', '6to4', 'RFC 3056', { at: 2 }],
  ['2620:4f:8000::/48', 'AS112', 'RFC 7534'],
  ['3ffe::/16', '6bone', 'RFC 3701'],
  ['3fff::/20', 'documentation', 'RFC 9637'],
  ['5f00::/16', 'segment routing', 'RFC 9602'],
  ['fc00::/7', 'unique local', 'RFC 4193'],
  ['fe80::/10', 'link-local', 'RFC 4291'],
  ['fec0::/10', 'site-local', 'RFC 3879'],
  ['ff00::/8', 'multicast', 'RFC 4291'],
]

interface Special {
  range: Cidr
  name: string
  embedded: readonly Embedded[]
}

// The first row that matches decides: 255.255.255.255 and 2001::/32 come before the ranges around them.
const SPECIAL: readonly Special[] = [...IPV4, ...IPV6].map(([cidr, name, source, ...embedded]) => ({
  range: parseCidr(cidr),
  name: `${name} (${source})`,
  embedded,
}))

// All addresses that IANA assigns for global unicast. Other addresses are refused, whatever they may become.
const GLOBAL_UNICAST = parseCidr('2000::/3')

/**
 * Returns the purpose of an address that is not public unicast, `private (RFC 1918)` for 10.0.0.1; undefined for a
 * public one. Only plain addresses are public: not octal, hexadecimal or short IPv4 spellings, zone ids or host
 * names. For the log. Use {@link mayConnect} to decide about a connection.
 */
export function specialRange(text: string): string | undefined {
  const address = parse(text)
  return address === undefined ? 'not an address' : special(address)?.name
}

/**
 * Whether the server may connect to this address: a public unicast address, or one in `allowed`. For an IPv6 address
 * that contains an IPv4 address (mapped or tunnelled), both must be allowed.
 */
export function mayConnect(text: string, allowed: readonly Cidr[] = []): boolean {
  const address = parse(text)
  return address !== undefined && accepted(address, allowed)
}

// The link-local ranges, and the metadata addresses outside of them: Azure's, and that of AWS over IPv6.
const METADATA = ['169.254.0.0/16', '168.63.129.16/32', 'fe80::/10', 'fd00:ec2::254/128'].map(parseCidr)

/**
 * Whether an address is link-local or a cloud's metadata service, which hands out keys. Also detects one that is
 * embedded in an IPv6 address.
 */
export function isMetadataAddress(text: string): boolean {
  const address = parse(text.replace(/%.*$/, ''))
  return address !== undefined && isMetadata(address)
}

function isMetadata(address: Address): boolean {
  const { embedded = [] } = special(address) ?? {}
  return (
    METADATA.some((range) => within(address, range)) ||
    embedded.some((place) => isMetadata(unwrap(address, place)))
  )
}

/**
 * Whether an address is in one of the ranges. An IPv4 address is found in its IPv6 form, `::ffff:192.0.2.1`, too, and the zone of a
 * link-local address is ignored. False for any other text.
 */
export function isInRanges(text: string, ranges: readonly Cidr[]): boolean {
  const parsed = parse(text.replace(/%.*$/, ''))
  if (!parsed) return false
  const isMapped = parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()
  const address = isMapped ? parsed.toIPv4Address() : parsed
  return ranges.some((range) => within(address, range))
}

/**
 * Parses `10.0.0.0/8` or `fd00::/8`. IPv4 needs four decimal parts, and the address bits behind the mask must be 0:
 * an ambiguous text could allow another network than the intended one.
 *
 * @throws Error for anything else
 */
export function parseCidr(text: string): Cidr {
  if (isCidr(text)) return ipaddr.parseCIDR(text)
  throw new Error(`not a range of addresses: ${JSON.stringify(text)}`)
}

/** Whether {@link parseCidr} accepts the text. */
export function isCidr(text: string): boolean {
  if (text.includes('%') || !ipaddr.isValidCIDR(text)) return false
  const [address] = ipaddr.parseCIDR(text)
  if (address.kind() === 'ipv4' && !ipaddr.IPv4.isValidCIDRFourPartDecimal(text)) return false
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  return family.networkAddressFromCIDR(text).toString() === address.toString()
}

function accepted(address: Address, allowed: readonly Cidr[]): boolean {
  const found = special(address)
  if (!found) return true
  return (
    allowed.some((range) => within(address, range)) &&
    found.embedded.every((place) => accepted(unwrap(address, place), allowed))
  )
}

function special(address: Address): Special | undefined {
  const found = SPECIAL.find(({ range }) => within(address, range))
  if (found || address.kind() === 'ipv4' || within(address, GLOBAL_UNICAST)) return found
  return { range: GLOBAL_UNICAST, name: 'not global unicast (RFC 4291)', embedded: [] }
}

function within(address: Address, [network, bits]: Cidr): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}

function unwrap(address: Address, { at, inverted }: Embedded): Address {
  const bytes = address.toByteArray().slice(at, at + 4)
  return new ipaddr.IPv4(inverted ? bytes.map((byte) => byte ^ 0xff) : bytes)
}

function parse(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  // Normalized by URL, since ipaddr.js reads ::10.0.0.1 as ::ffff:10.0.0.1. URL rejects zone ids, as we must.
  const url = `http://[${text}]/`
  if (!/^[0-9a-f:.]+$/i.test(text) || !URL.canParse(url)) return undefined
  return ipaddr.IPv6.parse(new URL(url).hostname.slice(1, -1))
}
