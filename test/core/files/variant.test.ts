import { expect } from 'chai'
import { sha256 } from '../../../src/core/bytes/digest.ts'
import { variantOf } from '../../../src/core/files/variant.ts'

const of = (parameters: Record<string, string | undefined>, fingerprint?: string) =>
  variantOf(new Map(Object.entries(parameters)), fingerprint)

describe('a variant', () => {
  it('is "default" when every value is the default', () => {
    expect(of({})).to.equal('default')
    expect(of({}, '0123456789')).to.equal('default&~01234567')
  })

  it('sorts the parameters by name', () => {
    expect(of({ w: '100', h: '50', dpr: '2' })).to.equal('dpr=2&h=50&w=100')
    expect(of({ h: '50', dpr: '2', w: '100' })).to.equal('dpr=2&h=50&w=100')
  })

  it('sorts by code unit, whatever the locale', () => {
    expect(of({ b_c: '1', bc: '2', b1: '3', b: '4' })).to.equal('b=4&b1=3&b_c=1&bc=2')
  })

  it('contains all characters of plain values', () => {
    const value = 'AZaz09.,:-'
    expect(of({ crop: value, wm: '' })).to.equal(`crop=${value}&wm=`)
  })

  it('contains the name alone for a parameter without a value', () => {
    expect(of({ start: '1', hls: undefined })).to.equal('hls&start=1')
    expect(of({ text: 'a b', hls: undefined })).not.to.equal(of({ text: 'a b', hls: '' }))
  })

  for (const value of ['a b', 'a/b', 'ä', '../x', 'a&w=2', 'a=b', '~', '_', '%2f', '\n', '100\n']) {
    it(`is a hash when a value holds ${JSON.stringify(value)}`, () => {
      expect(of({ w: '100', text: value })).to.match(/^~[0-9a-f]{32}$/)
    })
  }

  it('is the text up to 180 bytes, and a hash beyond', () => {
    expect(of({ k: 'a'.repeat(178) })).to.equal(`k=${'a'.repeat(178)}`)
    expect(of({ k: 'a'.repeat(179) })).to.match(/^~[0-9a-f]{32}$/)
  })

  it('hashes the same parameters to the same name in any order', () => {
    expect(of({ text: 'a b', w: '1' })).to.equal(of({ w: '1', text: 'a b' }))
  })

  it('hashes different parameters to different names, even when their texts are equal', () => {
    const names = [{ text: 'a b' }, { text: 'a  b' }, { text: 'x&w=1 ' }, { text: 'x', w: '1 ' }].map((one) =>
      of(one),
    )
    expect(new Set(names).size).to.equal(4)
  })

  it('adds the first 8 digits of a fingerprint to a text and to a hash', () => {
    const fingerprint = sha256('anything')
    expect(of({ w: '1' }, fingerprint)).to.equal(`w=1&~${fingerprint.slice(0, 8)}`)
    expect(of({ t: ' ' }, fingerprint)).to.equal(`${of({ t: ' ' })}&~${fingerprint.slice(0, 8)}`)
  })

  it('is hashed by SHA-256', () => {
    expect(sha256('abc')).to.equal('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})
