import { expect } from 'chai'
import fc from 'fast-check'
import { parseTarget } from '../../../src/core/net/query.ts'
import { holds } from '../../contracts/property.ts'

describe('the target of a request', () => {
  it('has its path as received, and no pairs without a query', () => {
    expect(parseTarget('/a%20b/c')).to.deep.equal({ path: '/a%20b/c', pairs: [] })
    expect(parseTarget('/a%20b/c?d').path).to.equal('/a%20b/c')
  })

  it('has the pairs of URLSearchParams, each with its text', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '=', '&', '?', '%', '2', '0', '+', ' ', 'ä', '#'),
    })
    return holds(
      fc.property(text, (query) => {
        const { path, pairs } = parseTarget(`/p?${query}`)
        expect(path).to.equal('/p')
        expect(pairs.map(({ raw }) => raw).join('&')).to.equal(query)
        expect(pairs.flatMap(({ named }) => (named ? [named] : []))).to.deep.equal([
          ...new URLSearchParams(query),
        ])
        // URLSearchParams ignores one "?" at its start, so only the first part may begin with it.
        for (const [i, { raw, named }] of pairs.entries())
          expect(named).to.deep.equal([...new URLSearchParams(i === 0 ? raw : `&${raw}`)][0])
      }),
    )
  })
})
