import { expect } from 'chai'
import { clientIp } from '../../../src/http/caller/client-ip.ts'

describe('the IP address of a caller', () => {
  for (const [ip, expected] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['::1', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['192.0.2.1:47011', '192.0.2.1'],
    ['[2001:db8:1:2::1]:47011', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['not an address', 'unknown'],
    ['192.0.2:1', 'unknown'],
    ['1.2.3.4:5:6', 'unknown'],
    [undefined, 'unknown'],
  ] as const)
    it(`${ip} is counted as ${expected}`, () => {
      expect(clientIp({ ip } as Parameters<typeof clientIp>[0])).to.equal(expected)
    })
})
