import { expect } from 'chai'
import { isOfFewValues } from '../../../src/http/body/json-limits.ts'

describe('the size of a JSON body', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  for (const [what, json, isFew] of [
    ['10,000 values', `[${'0,'.repeat(9997)}0]`, true],
    ['one more', `[${'0,'.repeat(9998)}00,0]`, false],
    ['objects', `[${'{},'.repeat(5001)}0]`, false],
    ['32 levels', nested(32), true],
    ['33 levels', nested(33), false],
    ['closed levels', `[${'[[]],'.repeat(100)}0]`, true],
    ['a string of anything', JSON.stringify({ a: ',[{"\\'.repeat(20_000) }), true],
    ['values after a string', `["\\\\",${'0,'.repeat(10_000)}0]`, false],
    ['nothing', '', true],
  ] as const) {
    it(`is ${isFew ? 'fine' : 'too much'}: ${what}`, () => {
      expect(isOfFewValues(Buffer.from(json))).to.equal(isFew)
    })
  }
})
