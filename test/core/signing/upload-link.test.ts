import { expect } from 'chai'
import { newFileId } from '../../../src/core/files/object-key.ts'
import {
  EXPIRES_MAX_SECONDS,
  linkTarget,
  readLinkTarget,
  type SignedLink,
  USES_MAX,
} from '../../../src/core/signing/upload-link.ts'

describe('the target of a signed link', () => {
  const key = Buffer.from('the key of these tests')
  const least: SignedLink = {
    id: newFileId(),
    clientId: 'first',
    folder: '',
    issuedAt: 0,
    expiresInSeconds: 1,
    uses: 1,
  }

  for (const [what, more] of [
    ['the least of all', {}],
    ['the most of all', { issuedAt: 36 ** 6, expiresInSeconds: EXPIRES_MAX_SECONDS, uses: USES_MAX }],
    ['one byte', { maxBytes: 1 }],
    ['as many bytes as can be counted', { maxBytes: Number.MAX_SAFE_INTEGER }],
    ['a folder', { folder: 'a b/ü%/日本' }],
    ['types', { types: ['image', 'mp4'] }],
  ] as ReadonlyArray<[string, Partial<SignedLink>]>)
    it(`contains all its rights: ${what}`, () => {
      const link = { ...least, ...more }
      expect(readLinkTarget(linkTarget(link, key), () => key)).to.deep.equal(link)
    })

  it('is invalid with another key', () => {
    expect(readLinkTarget(linkTarget(least, key), () => Buffer.from('another'))).to.equal(undefined)
  })
})
