import { expect } from 'chai'
import fc from 'fast-check'
import { newFileId } from '../../../src/core/files/object-key.ts'
import {
  EXPIRES_MAX_SECONDS,
  linkTarget,
  PIXELS_MAX,
  readLinkTarget,
  type SignedLink,
  USES_MAX,
} from '../../../src/core/signing/upload-link.ts'
import { holds } from '../../contracts/property.ts'

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

  const positive = (max: number) => fc.integer({ min: 1, max })
  const segment = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 10 })
    .filter((text) => !text.includes('/') && text.isWellFormed() && text !== '_')
  const links: fc.Arbitrary<SignedLink> = fc.record(
    {
      id: fc.constant(least.id),
      clientId: fc.constantFrom('first', '4dRXvHqZy8C'),
      folder: fc.array(segment, { maxLength: 4 }).map((segments) => segments.join('/')),
      issuedAt: fc.integer({ min: 0, max: 36 ** 6 }),
      expiresInSeconds: positive(EXPIRES_MAX_SECONDS),
      uses: positive(USES_MAX),
      maxBytes: positive(Number.MAX_SAFE_INTEGER),
      types: fc.uniqueArray(fc.constantFrom('image', 'mp4', 'pdf', 'audio'), { minLength: 1 }),
      minPixels: positive(PIXELS_MAX),
      maxPixels: positive(PIXELS_MAX),
      isDecodable: fc.constant(true as const),
    },
    { requiredKeys: ['id', 'clientId', 'folder', 'issuedAt', 'expiresInSeconds', 'uses'] },
  )

  it('contains all its rights', () =>
    holds(
      fc.property(links, (link) => {
        expect(readLinkTarget(linkTarget(link, key), () => key)).to.deep.equal({ ...link })
      }),
    ))

  it('is invalid when any character of it is another one', () =>
    holds(
      fc.property(
        links,
        fc.nat(),
        fc.constantFrom('0', 'a', 'Z', '/', '.', '-', '?', '%'),
        (link, at, character) => {
          const target = linkTarget(link, key)
          const i = at % target.length
          fc.pre(target[i] !== character)
          const changed = target.slice(0, i) + character + target.slice(i + 1)
          expect(readLinkTarget(changed, () => key)).to.equal(undefined)
        },
      ),
    ))

  it('has the form of earlier versions without rules for the content', () => {
    expect(linkTarget(least, key)).to.match(/sign\/\w+\/first\.0\.\.\.\.[\w-]{43}\/_\?expirationIn=1$/)
  })

  it('is invalid with another key', () => {
    expect(readLinkTarget(linkTarget(least, key), () => Buffer.from('another'))).to.equal(undefined)
  })
})
