import { expect } from 'chai'
import { parseTarget } from '../../../src/core/net/query.ts'

describe('the target of a request', () => {
  it('has its path as received, and no pairs without a query', () => {
    expect(parseTarget('/a%20b/c')).to.deep.equal({ path: '/a%20b/c', pairs: [] })
  })

  const queries = [
    'a=1&b=2',
    'a=1&&b=2',
    '&a=1&',
    '',
    '?',
    '?a=1',
    '?&a',
    'a=1&?b=2',
    '=&=x&a=&a',
    'a%20b=%C3%A4&c+d=e+f',
    'a=1?b=2&a=1',
    '%zz=%',
  ]
  for (const query of queries) {
    it(`has the pairs of URLSearchParams, each with its text: ${JSON.stringify(query)}`, () => {
      const { path, pairs } = parseTarget(`/p?${query}`)
      expect(path).to.equal('/p')
      expect(pairs.map(({ raw }) => raw).join('&')).to.equal(query)
      expect(pairs.flatMap(({ named }) => (named ? [named] : []))).to.deep.equal([
        ...new URLSearchParams(query),
      ])
      for (const { raw, named } of pairs)
        if (named && !raw.startsWith('?')) expect([...new URLSearchParams(raw)]).to.deep.equal([named])
    })
  }
})
