import { expect } from 'chai'
import { newFileId } from '../../../src/core/files/object-key.ts'
import {
  EXPIRES_MAX_SECONDS,
  linkTarget,
  PIXELS_MAX,
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
    ['minimal values', {}],
    ['maximal values', { issuedAt: 36 ** 6, expiresInSeconds: EXPIRES_MAX_SECONDS, uses: USES_MAX }],
    ['one byte', { maxBytes: 1 }],
    ['the largest byte limit', { maxBytes: Number.MAX_SAFE_INTEGER }],
    ['a folder', { folder: 'a b/ü%/日本' }],
    ['types', { types: ['image', 'mp4'] }],
    ['pixels', { minPixels: 1, maxPixels: PIXELS_MAX }],
    ['decodable files', { types: ['image'], isDecodable: true }],
  ] as ReadonlyArray<[string, Partial<SignedLink>]>)
    it(`contains all its rights: ${what}`, () => {
      const link = { ...least, ...more }
      expect(readLinkTarget(linkTarget(link, key), () => key)).to.deep.equal(link)
    })

  it('has the form of earlier versions without rules for the content', () => {
    expect(linkTarget(least, key)).to.match(/sign\/\w+\/first\.0\.\.\.\.[\w-]{43}\/_\?expirationIn=1$/)
  })

  it('is invalid with another key', () => {
    expect(readLinkTarget(linkTarget(least, key), () => Buffer.from('another'))).to.equal(undefined)
  })
})
