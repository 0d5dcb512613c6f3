import { expect } from 'chai'
import { isMetadataAddress } from '../../src/core/net/ip-ranges.ts'

describe('isMetadataAddress', () => {
  for (const address of [
    '169.254.169.254',
    '169.254.0.0',
    '169.254.255.255',
    '168.63.129.16',
    'fe80::1',
    'fe80::1%eth0',
    'febf:ffff::',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::169.254.169.254',
    '2002:a9fe:a9fe::',
  ])
    it(`returns true for ${address}`, () => expect(isMetadataAddress(address)).to.equal(true))

  for (const address of [
    '169.253.255.255',
    '169.255.0.0',
    '10.0.0.1',
    '127.0.0.1',
    '::1',
    'fec0::1',
    'fd00::1',
    '',
  ])
    it(`returns false for ${address || 'an empty text'}: stores in private networks are common`, () =>
      expect(isMetadataAddress(address)).to.equal(false))
})
