import { expect } from 'chai'
import fc from 'fast-check'
import { jsonErrorPlace } from '../../../src/core/text/json-position.ts'
import { holds } from '../../contracts/property.ts'

describe('the place of an error in JSON', () => {
  const CASES: ReadonlyArray<[text: string, place: string]> = [
    ['', 'the end of the body'],
    ['{', 'the end of the body'],
    ['{"a":1', 'the end of the body'],
    ['{"a":}', 'line 1, column 6'],
    ['{\n  "a": 1,\n  b: 2\n}', 'line 3, column 3'],
    ['{"a":1,}', 'line 1, column 8'],
    ['[1 2]', 'line 1, column 4'],
    ['[01]', 'line 1, column 2'],
    ['{"a" 1}', 'line 1, column 6'],
    ["{'a':1}", 'line 1, column 2'],
    ['{"a":"\n"}', 'line 1, column 6'],
    ['{"a":1}}', 'line 1, column 8'],
    ['{"a":undefined}', 'line 1, column 6'],
    ['[}', 'line 1, column 2'],
    ['<xml>', 'line 1, column 1'],
  ]
  for (const [text, place] of CASES)
    it(`is ${place} for ${JSON.stringify(text)}`, () => {
      expect(() => JSON.parse(text)).to.throw()
      expect(jsonErrorPlace(text)).to.equal(place)
    })

  const VALID = ['{}', '[]', ' {"a": [1, -2.5e3, "\\u00e4\\n", true, null, {"b": {}}]} ', '"a"', '0']
  for (const text of VALID)
    it(`is nowhere for ${text}`, () => {
      JSON.parse(text)
      expect(jsonErrorPlace(text)).to.equal(undefined)
    })

  it('is there for each text that JSON.parse refuses, and for no other', () => {
    const text = fc.string({ unit: fc.constantFrom(...'{}[],:"\\u0a1-.eE tnl\n', 'true', 'null', '"a"') })
    const nearly = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', '0'))
    const damaged = nearly.map(([json, at, piece]) => {
      const i = at % (json.length + 1)
      return json.slice(0, i) + piece + json.slice(i + (at % 2))
    })
    return holds(
      fc.property(fc.oneof(text, damaged), (one) => {
        expect(jsonErrorPlace(one) === undefined).to.equal(isJson(one))
      }),
    )
  })

  it('is found at any depth, and in long texts', () => {
    expect(jsonErrorPlace('['.repeat(200_000))).to.equal('the end of the body')
    expect(jsonErrorPlace(`["${'\\n'.repeat(200_000)}",]`)).to.equal('line 1, column 400005')
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
