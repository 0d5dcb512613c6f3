import { expect } from 'chai'
import fc from 'fast-check'
import { parseTarget } from '../../../src/core/net/query.ts'
import { readSignedUrl, signUrl, withoutSignature } from '../../../src/core/signing/signed-url.ts'
import { holds } from '../../contracts/property.ts'

describe('a signed URL', () => {
  const key = { version: 3, key: 'the key of these tests' }
  const read = (target: string, { now = 0 } = {}) => {
    const findKey = (version: number) => (version === key.version ? key.key : undefined)
    return readSignedUrl(parseTarget(target), { findKey, now })
  }
  const word = fc.string({ unit: fc.constantFrom('w', 'h', '3', '0', '%20', 'ä', '/', '.'), minLength: 1 })
  const query = fc
    .array(
      fc.tuple(word, word).map(([name, value]) => `${name}=${value}`),
      { maxLength: 4 },
    )
    .map((pairs) => (pairs.length > 0 ? `?${pairs.join('&')}` : ''))
  const targets = fc.tuple(word, query).map(([path, rest]) => `/v1/image/upload/t/${path}${rest}`)

  it('is valid as it was signed, and has its parameters', () =>
    holds(
      fc.property(targets, (target) => {
        const signed = signUrl(target, key)
        const { url, pairs } = read(signed)
        expect(url).to.deep.equal({ state: 'signed', version: 3 })
        expect(pairs.flatMap(({ named }) => (named ? [named] : []))).to.deep.equal([
          ...new URLSearchParams(target.split('?')[1] ?? ''),
        ])
        expect(withoutSignature(signed)).to.equal(target)
      }),
    ))

  it('is invalid when any of its characters is another one', () =>
    holds(
      fc.property(
        targets,
        fc.nat(),
        fc.constantFrom('a', '1', '&', '=', '.', 'Z'),
        (target, at, character) => {
          const signed = signUrl(target, key)
          const i = at % signed.length
          fc.pre(signed[i] !== character)
          const { url } = read(signed.slice(0, i) + character + signed.slice(i + 1))
          expect(url.state).to.be.oneOf(['invalid', 'unsigned'])
        },
      ),
    ))

  it('expires at its second, exclusive', () =>
    holds(
      fc.property(targets, fc.integer({ min: 1, max: 9_999_999_999 }), (target, until) => {
        const signed = signUrl(`${target}${target.includes('?') ? '&' : '?'}exp=${until}`, key)
        expect(read(signed, { now: 1000 * until - 1 }).url).to.deep.equal({
          state: 'signed',
          version: 3,
          until: 1000 * until,
        })
        expect(read(signed, { now: 1000 * until }).url).to.deep.equal({ state: 'expired' })
      }),
    ))
})
