import { expect } from 'chai'
import { truncate } from '../../../src/core/text/truncate.ts'

describe('truncated values', () => {
  for (const [received, shown] of [
    ['abc', 'abc'],
    ['', ''],
    ['x'.repeat(100), 'x'.repeat(100)],
    ['x'.repeat(101), `${'x'.repeat(100)}…`],
    [5, '5'],
    [null, 'null'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [{ a: [1, null, 'x"', { b: true, c: {} }], d: [] }, '{"a":[1,null,"x\\"",{"b":true,"c":{}}],"d":[]}'],
    [['x'.repeat(1000), 1], `["${'x'.repeat(98)}…`],
    [{ ['x'.repeat(1000)]: 1 }, `{"${'x'.repeat(98)}…`],
  ] as const) {
    it(`are, for ${typeof received} ${JSON.stringify(received).slice(0, 30)}: ${shown.slice(0, 30)}`, () => {
      expect(truncate(received)).to.equal(shown)
    })
  }

  it('show the start of a value that is nested deeper than the stack', () => {
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
    expect(truncate(deep)).to.equal(`${'['.repeat(100)}…`)
  })
})
