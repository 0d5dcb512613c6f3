import { expect } from 'chai'
import fc from 'fast-check'
import { appKeys } from '../../../src/core/signing/derive-key.ts'
import { seal, unseal } from '../../../src/core/signing/seal.ts'
import { holds } from '../../contracts/property.ts'

describe('a sealed text', () => {
  const key = appKeys('the secret of these tests')('bucket credentials')
  const place = 'bucket of one'

  it('is decrypted with its key and place, and differs each time', () =>
    holds(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const [one, other] = [seal(text, { key, place }), seal(text, { key, place })]
        expect(unseal(one, { key, place })).to.equal(text)
        expect(one).to.not.equal(other)
        if (text.length > 1) expect(Buffer.from(one.slice(3), 'base64url').includes(text)).to.equal(false)
      }),
    ))

  it('is invalid with another key or place, or after any change', () => {
    const sealed = seal('secret', { key, place })
    const otherKey = appKeys('the secret of these tests')('admin session')
    expect(() => unseal(sealed, { key: otherKey, place })).to.throw()
    expect(() => unseal(sealed, { key, place: 'bucket of another' })).to.throw()
    const bytes = Buffer.from(sealed.slice(3), 'base64url')
    for (let i = 0; i < bytes.length; i += 1) {
      const changed = Buffer.from(bytes)
      changed[i] = (changed[i] ?? 0) ^ 1
      expect(() => unseal(`v1.${changed.toString('base64url')}`, { key, place }), `byte ${i}`).to.throw()
    }
    for (const text of ['', 'v1.', 'v2.', sealed.slice(3), sealed.slice(0, -2), 'secret'])
      expect(() => unseal(text, { key, place }), text).to.throw()
  })
})
