import { BlockList } from 'node:net'
import { expect } from 'chai'
import { isCidr, mayConnect, parseCidr, specialRange } from '../../../src/core/net/ip-ranges.ts'
import { seededRandom } from '../../contracts/random.ts'

/** What IANA's registries say, range by range; written down apart from the table of the program. */
const RANGES: Record<string, string> = {
  '0.0.0.0/8': 'this network (RFC 791)',
  '10.0.0.0/8': 'private (RFC 1918)',
  '100.64.0.0/10': 'carrier-grade NAT (RFC 6598)',
  '127.0.0.0/8': 'loopback (RFC 1122)',
  '168.63.129.16/32': 'cloud platform (Microsoft)',
  '169.254.0.0/16': 'link-local (RFC 3927)',
  '172.16.0.0/12': 'private (RFC 1918)',
  '192.0.0.0/24': 'IETF protocols (RFC 6890)',
  '192.0.2.0/24': 'documentation (RFC 5737)',
  '192.31.196.0/24': 'AS112 (RFC 7535)',
  '192.52.193.0/24': 'AMT relays (RFC 7450)',
  '192.88.99.0/24': '6to4 relays (RFC 7526)',
  '192.168.0.0/16': 'private (RFC 1918)',
  '192.175.48.0/24': 'AS112 (RFC 7534)',
  '198.18.0.0/15': 'benchmarking (RFC 2544)',
  '198.51.100.0/24': 'documentation (RFC 5737)',
  '203.0.113.0/24': 'documentation (RFC 5737)',
  '224.0.0.0/4': 'multicast (RFC 5771)',
  '255.255.255.255/32': 'broadcast (RFC 919)',
  '::/128': 'unspecified (RFC 4291)',
  '::1/128': 'loopback (RFC 4291)',
  '::ffff:0:0/96': 'IPv4-mapped (RFC 4291)',
  '::ffff:0:0:0/96': 'IPv4-translated (RFC 2765)',
  '64:ff9b::/96': 'NAT64 (RFC 6052)',
  '64:ff9b:1::/48': 'NAT64 (RFC 8215)',
  '100::/64': 'discard (RFC 6666)',
  '2001::/32': 'Teredo (RFC 4380)',
  '2001:2::/48': 'benchmarking (RFC 5180)',
  '2001:10::/28': 'ORCHID (RFC 4843)',
  '2001:20::/28': 'ORCHID (RFC 7343)',
  '2001:db8::/32': 'documentation (RFC 3849)',
  '2002::/16': '6to4 (RFC 3056)',
  '2620:4f:8000::/48': 'AS112 (RFC 7534)',
  '3ffe::/16': '6bone (RFC 3701)',
  '3fff::/20': 'documentation (RFC 9637)',
  '5f00::/16': 'segment routing (RFC 9602)',
  'fc00::/7': 'unique local (RFC 4193)',
  'fe80::/10': 'link-local (RFC 4291)',
  'fec0::/10': 'site-local (RFC 3879)',
  'ff00::/8': 'multicast (RFC 4291)',
}

/** Those that others of the list cut holes into, at their beginning or end. */
const AROUND: Record<string, string> = {
  '240.0.0.0/4': 'reserved (RFC 1112)',
  '::/96': 'IPv4-compatible (RFC 4291)',
  '2001::/23': 'IETF protocols (RFC 2928)',
}

const ALL = { ...RANGES, ...AROUND }

describe('specialRange', () => {
  // One for each family: a list takes an IPv4 address for its IPv4-mapped one.
  const refused = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const cidr of Object.keys(ALL)) {
    const [network = '', bits] = cidr.split('/')
    refused[family(network)].addSubnet(network, Number(bits), family(network))
  }

  /** As node:net sees it, which shares no code with what is tested. */
  function isSpecial(address: string): boolean {
    const outside = family(address) === 'ipv6' && toNumber(address) >> 125n !== 1n
    return outside || refused[family(address)].check(address, family(address))
  }

  for (const [cidr, name] of Object.entries(RANGES)) {
    it(`returns ${name} for ${cidr}, from its first address to its last, and not beyond`, () => {
      const { first, last, before, after } = edges(cidr)
      expect([specialRange(first), specialRange(last)]).to.deep.equal([name, name])
      for (const neighbour of [before, after].filter((each) => each !== undefined)) {
        expect(specialRange(neighbour), neighbour).to.not.equal(name)
        expect(specialRange(neighbour) !== undefined, neighbour).to.equal(isSpecial(neighbour))
      }
    })
  }

  for (const [address, name] of Object.entries({
    '240.0.0.0': AROUND['240.0.0.0/4'],
    '255.255.255.254': AROUND['240.0.0.0/4'],
    '::2': AROUND['::/96'],
    '::ffff:ffff': AROUND['::/96'],
    '::1:0:0': 'not global unicast (RFC 4291)',
    '2001:1::': AROUND['2001::/23'],
    '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff': AROUND['2001::/23'],
    '2001:200::': undefined,
    '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff': 'not global unicast (RFC 4291)',
    '2000::': undefined,
    '3fff:1000::': undefined,
    '4000::': 'not global unicast (RFC 4291)',
    'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff': 'not global unicast (RFC 4291)',
    'fe00::': 'not global unicast (RFC 4291)',
  })) {
    it(`returns ${name ?? 'public'} for ${address}`, () => expect(specialRange(address)).to.equal(name))
  }

  it('accepts addresses of well-known public servers', () => {
    for (const address of [
      '1.1.1.1',
      '8.8.8.8',
      '9.9.9.9',
      '93.184.215.14',
      '100.63.255.255',
      '100.128.0.0',
      '172.15.255.255',
      '172.32.0.0',
      '223.255.255.255',
      '2606:4700:4700::1111',
      '2001:4860:4860::8888',
      '2620:fe::fe',
      '2a00:1450:4001:80b::200e',
    ])
      expect(specialRange(address), address).to.equal(undefined)
  })

  it('includes the metadata addresses of clouds', () => {
    for (const address of [
      '169.254.169.254', // AWS, Google, Azure, DigitalOcean, Oracle
      '169.254.170.2', // AWS containers
      '100.100.100.200', // Alibaba
      '192.0.0.192', // Oracle
      '168.63.129.16', // Azure
      'fd00:ec2::254', // AWS
      'fd20:ce::254', // Google
    ])
      expect(specialRange(address), address).to.not.equal(undefined)
  })

  it('accepts plain addresses only', () => {
    for (const text of [
      '',
      ' ',
      'localhost',
      'example.com',
      '8.8.8',
      '8.8.8.8.8',
      '8.8.8.8.',
      '8.8.8.256',
      '08.8.8.8',
      '010.8.8.8',
      '0x08.8.8.8',
      '134744072',
      '0x8080808',
      '8.526344',
      ' 8.8.8.8',
      '8.8.8.8\n',
      '8.8.8.8/32',
      '[2606:4700::1]',
      '2606:4700::1%eth0',
      '2606:4700::1%25eth0',
      'fe80::1%1',
      '2606:4700:::1',
      '2606::4700::1',
      '2606:4700:0:0:0:0:0:0:1',
      '2606:47000::1',
      '2606:4700::1/128',
      'g::1',
    ])
      expect(specialRange(text), JSON.stringify(text)).to.equal('not an address')
  })

  it('agrees with node:net about 20,000 random addresses, most of them near a range', () => {
    const random = seededRandom(1)
    for (let i = 0; i < 20_000; i += 1) {
      const { number, bits, kind } = read(random.oneOf(Object.keys(ALL)))
      const size = kind === 'ipv4' ? 32 : 128
      // The range's first address, in every second case with one bit of its prefix flipped, and something behind it.
      const flipped = random.below(2) === 0 || bits === 0 ? 0n : 1n << BigInt(size - 1 - random.below(bits))
      const behind = BigInt(random.below(2 ** 32)) & ((1n << BigInt(size - bits)) - 1n)
      const address = text((number ^ flipped) | behind, kind)
      expect(specialRange(address) !== undefined, address).to.equal(isSpecial(address))
    }
  })
})

describe('mayConnect', () => {
  const cases: Array<[address: string, allowed: string[], expected: boolean]> = [
    ['8.8.8.8', [], true],
    ['8.8.8.8', ['10.0.0.0/8'], true],
    ['10.1.2.3', [], false],
    ['10.1.2.3', ['10.1.0.0/16'], true],
    ['10.2.2.3', ['10.1.0.0/16'], false],
    ['10.2.2.3', ['10.1.0.0/16', '10.2.2.3/32'], true],
    ['127.0.0.1', ['10.0.0.0/8', '::/0'], false],
    ['fd00::1', ['0.0.0.0/0'], false],
    ['fd00::1', ['fd00::/8'], true],
    ['::1', ['::1/128'], true],
    ['::', ['::1/128'], false],
    // Another way to write an allowed address is no way around the list, nor is an allowed tunnel a way inside.
    ['::ffff:127.0.0.1', ['127.0.0.0/8'], false],
    ['::ffff:127.0.0.1', ['::ffff:0:0/96'], false],
    ['::ffff:127.0.0.1', ['::ffff:0:0/96', '127.0.0.0/8'], true],
    ['::ffff:8.8.8.8', [], false],
    ['::ffff:8.8.8.8', ['::ffff:0:0/96'], true],
    ['::127.0.0.1', ['::/96'], false],
    ['::8.8.8.8', ['::/96'], true],
    ['::ffff:0:10.0.0.1', ['::/64'], false],
    ['::ffff:0:8.8.8.8', ['::/64'], true],
    ['64:ff9b::8.8.8.8', [], false],
    ['64:ff9b::8.8.8.8', ['64:ff9b::/96'], true],
    ['64:ff9b::a9fe:a9fe', ['64:ff9b::/96'], false],
    ['64:ff9b:1::8.8.8.8', ['64:ff9b:1::/48'], true],
    ['64:ff9b:1::192.168.0.1', ['64:ff9b:1::/48'], false],
    ['2002:808:808::1', [], false],
    ['2002:808:808::1', ['2002::/16'], true],
    ['2002:7f00:1::1', ['2002::/16'], false],
    ['2002:c0a8:101::', ['2002::/16'], false],
    // Teredo: the server's address as it is, the client's with every bit inverted.
    ['2001:0:808:808:0:0:f7f7:f7f7', ['2001::/32'], true],
    ['2001:0:a00:1:0:0:f7f7:f7f7', ['2001::/32'], false],
    ['2001:0:808:808:0:0:80ff:fffe', ['2001::/32'], false],
    ['nonsense', ['0.0.0.0/0', '::/0'], false],
    ['fe80::1%lo', ['fe80::/10'], false],
  ]
  for (const [address, allowed, expected] of cases) {
    it(`${expected ? 'accepts' : 'refuses'} ${address} with ${allowed.join(', ') || 'nothing'} allowed`, () => {
      expect(mayConnect(address, allowed.map(parseCidr))).to.equal(expected)
    })
  }
})

describe('parseCidr', () => {
  const right = [
    '10.0.0.0/8',
    '10.1.2.3/32',
    '0.0.0.0/0',
    'fd00::/8',
    '::1/128',
    '::/0',
    '::ffff:10.0.0.0/104',
  ]
  for (const text of right) {
    it(`accepts ${text}`, () => {
      expect(isCidr(text)).to.equal(true)
      expect(parseCidr(text)[1]).to.equal(Number(text.split('/')[1]))
    })
  }
  for (const wrong of [
    ...['', '10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '::/129', '/8', 'fe80::%1/10', 'a/8', '10.0.0.0/-1'],
    ...['10.1/16', '010.0.0.0/8', '0x0a.0.0.0/8', '1/0', '10.1.2.3/8', 'fd00::1/8', '10.0.0.0/8/8'],
  ]) {
    it(`refuses ${JSON.stringify(wrong)}`, () => {
      expect(isCidr(wrong)).to.equal(false)
      expect(() => parseCidr(wrong)).to.throw()
    })
  }
})

type Kind = 'ipv4' | 'ipv6'

function family(address: string): Kind {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

function read(cidr: string) {
  const [network = '', bits = ''] = cidr.split('/')
  return { number: toNumber(network), bits: Number(bits), kind: family(network) }
}

/** First and last address of a range, and those just outside it; undefined beyond the end of all addresses. */
function edges(cidr: string) {
  const { number, bits, kind } = read(cidr)
  const size = kind === 'ipv4' ? 32n : 128n
  const last = number + (1n << (size - BigInt(bits))) - 1n
  return {
    first: text(number, kind),
    last: text(last, kind),
    before: number === 0n ? undefined : text(number - 1n, kind),
    after: last === (1n << size) - 1n ? undefined : text(last + 1n, kind),
  }
}

function toNumber(address: string): bigint {
  if (family(address) === 'ipv4')
    return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
  const [left = '', right] = address.split('::')
  const groups = (half: string) => half.split(':').filter((group) => group !== '')
  const [head, tail] = [groups(left), groups(right ?? '')]
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}

function text(number: bigint, kind: Kind): string {
  const [parts, bits, radix, between] = kind === 'ipv4' ? [4, 8n, 10, '.'] : [8, 16n, 16, ':']
  const part = (i: number) =>
    ((number >> (BigInt(parts - 1 - i) * bits)) & ((1n << bits) - 1n)).toString(radix)
  return Array.from({ length: parts }, (_, i) => part(i)).join(between)
}
