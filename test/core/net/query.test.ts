import { expect } from 'chai'
import { parseTarget } from '../../../src/core/net/query.ts'

describe('the target of a request', () => {
  it('has its path as received, and no pairs without a query', () => {
    expect(parseTarget('/a%20b/c')).to.deep.equal({ path: '/a%20b/c', pairs: [] })
    expect(parseTarget('/a%20b/c?d').path).to.equal('/a%20b/c')
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
    'a=1&?',
    ' a= 1&b ',
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
      // URLSearchParams ignores one "?" at its start, so only the first part may begin with it.
      for (const [i, { raw, named }] of pairs.entries())
        expect(named).to.deep.equal([...new URLSearchParams(i === 0 ? raw : `&${raw}`)][0])
    })
  }
})
