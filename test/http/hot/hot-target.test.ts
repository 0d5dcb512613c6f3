import { expect } from 'chai'
import { createHotTarget } from '../../../src/http/hot/hot-target.ts'

describe('the name of a target in the hot cache', () => {
  const hotTarget = createHotTarget(['ref'])

  for (const [target, name] of [
    ['/v1/a', '/v1/a'],
    ['/v1/a?w=3&f=auto', '/v1/a?w=3&f=auto'],
    ['/v1/a?utm_source=x', '/v1/a'],
    ['/v1/a?utm_source=x&w=3&fbclid=y&ref=z&f=auto&v', '/v1/a?w=3&f=auto'],
    ['/v1/a?w=3&s=1.mac&utm_source=x', '/v1/a?w=3&s=1.mac'],
    // Only the built-in names are not covered by signatures.
    ['/v1/a?w=3&ref=z&s=1.mac', '/v1/a?w=3&ref=z&s=1.mac'],
    ['/v1/utm_source=x&w=3', '/v1/utm_source=x&w=3'],
  ] as const)
    it(`of ${target} is ${name}`, () => expect(hotTarget(target)).to.equal(name))
})
