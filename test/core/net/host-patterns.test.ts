import { expect } from 'chai'
import { namesHost } from '../../../src/core/net/host-patterns.ts'

describe('namesHost', () => {
  const cases: Array<[entry: string, url: string, expected: boolean]> = [
    ['example.com', 'http://example.com/', true],
    ['example.com', 'http://EXAMPLE.com./', true],
    ['Example.com.', 'http://example.com/', true],
    ['example.com', 'http://www.example.com/', false],
    ['example.com', 'http://notexample.com/', false],
    ['*.example.com', 'http://www.example.com/', true],
    ['*.example.com', 'http://a.b.example.com/', true],
    ['*.example.com', 'http://example.com/', false],
    ['*.example.com', 'http://notexample.com/', false],
    ['*.example.com', 'http://www.example.com.evil.test/', false],
    ['bücher.example', 'http://xn--bcher-kva.example/', true],
    ['*.bücher.example', 'http://www.bücher.example/', true],
    ['127.0.0.1', 'http://2130706433/', true],
    ['0x7f.1', 'http://127.0.0.1/', true],
    ['[::1]', 'http://[0:0::1]/', true],
  ]
  for (const [entry, url, expected] of cases) {
    it(`${entry} ${expected ? 'matches' : 'does not match'} the host of ${url}`, () => {
      expect(namesHost(['other.test', entry], new URL(url).hostname)).to.equal(expected)
    })
  }

  for (const wrong of [
    '',
    '*',
    '*.',
    'http://example.com',
    'example.com/a',
    'example.com:80',
    'a@b',
    'a b',
    '::1',
  ]) {
    it(`refuses the entry ${JSON.stringify(wrong)}`, () => {
      expect(() => namesHost([wrong], 'example.com')).to.throw('not a host')
    })
  }
})
