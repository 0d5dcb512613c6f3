import { expect } from 'chai'
import { isSameRoot, overlap } from '../../../src/core/clients/client-storage.ts'

const root = (text: string) => {
  const [endpoint = '', bucket = '', prefix = ''] = text.split(' ')
  return { endpoint: endpoint === '?' ? undefined : endpoint, bucket, prefix }
}

describe('roots of clients', () => {
  for (const [one, other] of [
    ['http://a b', 'http://a b'],
    ['http://a b', 'http://a b x/'],
    ['http://a b x/', 'http://a b x/y/'],
    ['http://a b', 'http://a:80 b x/'],
    ['http://A b', 'http://a. b'],
    ['https://s3.eu-west-1.amazonaws.com b', 'https://s3.amazonaws.com b'],
    ['http://127.0.0.1:9000 b', 'http://localhost:9000 b'],
    ['? b', 'http://a b'],
  ] as const)
    it(`overlap: ${one} and ${other}`, () => {
      expect([overlap(root(one), root(other)), overlap(root(other), root(one))]).to.deep.equal([true, true])
    })

  for (const [one, other] of [
    ['http://a b', 'http://a c'],
    ['http://a b', 'http://a2 b'],
    ['http://a:9000 b', 'http://a:9001 b'],
    ['http://a b x/', 'http://a b xy/'],
    ['http://a b x/y/', 'http://a b x/z/'],
    ['https://a b', 'http://a b'],
    ['? b', 'http://a c'],
  ] as const)
    it(`are separate: ${one} and ${other}`, () => {
      expect([overlap(root(one), root(other)), overlap(root(other), root(one))]).to.deep.equal([false, false])
    })

  it('are equal when they begin at the same place', () => {
    expect(isSameRoot(undefined, undefined)).to.equal(true)
    expect(isSameRoot(root('http://a b x/'), root('http://a:80 b x/'))).to.equal(true)
    for (const other of [undefined, root('http://a b'), root('http://a c x/'), root('http://c b x/')])
      expect(isSameRoot(root('http://a b x/'), other)).to.equal(false)
  })
})
