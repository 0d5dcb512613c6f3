import { expect } from 'chai'
import { annotated, checkMetadata, checkTags, mergeMetadata } from '../../../src/core/files/annotations.ts'
import { Problem } from '../../../src/core/problem.ts'

const texts = (count: number) => Array.from({ length: count }, (_, i) => `${i}`)
const pairs = (count: number, value = '', from = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i + from}`, value]))
/** As it comes: `{ __proto__: … }` in the code would be another thing. */
const named = (name: string, value: unknown) =>
  JSON.parse(JSON.stringify({ x: value }).replace('"x"', JSON.stringify(name)))
/** 16 names of 8 bytes and values that fill 16 KiB to the byte, or go so much beyond. */
const full = (more = 0) => ({
  ...Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`name-${100 + i}`, 'x'.repeat(1016)])),
  'name-199': 'x'.repeat(1016 + more),
})

/** What is wrong with it, by its member. */
function refused(work: () => unknown): { param: unknown; detail: string } {
  try {
    const outcome = work()
    throw new Error(`it was taken: ${JSON.stringify(outcome)}`)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    expect([error.status, error.code]).to.deep.equal([400, 'bad_parameter'])
    return { param: error.members.param, detail: error.message }
  }
}

describe('the tags of a file', () => {
  for (const [what, received, expected] of [
    ['none', [], []],
    ['some, in their order', ['b', 'a', 'größer'], ['b', 'a', 'größer']],
    ['the same ones, once', ['b', 'a', 'b', 'a'], ['b', 'a']],
    ['those that differ in case or accents', ['a', 'A', 'ä', 'a\u0308'], ['a', 'A', 'ä', 'a\u0308']],
    ['of white space', [' ', ' a '], [' ', ' a ']],
    ['of 100 bytes', ['x'.repeat(100), 'ä'.repeat(50)], ['x'.repeat(100), 'ä'.repeat(50)]],
    ['50 of them', texts(50), texts(50)],
    ['50 different ones, named often', [...texts(50), ...texts(50)], texts(50)],
    ['whole emoji', ['👩‍👧', '🏳️‍🌈'], ['👩‍👧', '🏳️‍🌈']],
  ] as const)
    it(`may be ${what}`, () => {
      expect(checkTags(received)).to.deep.equal(expected)
    })

  for (const [what, received, param] of [
    ['nothing', undefined, 'tags'],
    ['null', null, 'tags'],
    ['a text', 'a', 'tags'],
    ['an object', { 0: 'a', length: 1 }, 'tags'],
    ['51 of them', texts(51), 'tags'],
    ['numbers', ['a', 1], 'tags[1]'],
    ['null among them', [null], 'tags[0]'],
    ['arrays', [['a']], 'tags[0]'],
    ['objects that show themselves as texts', [{ toString: () => 'a' }], 'tags[0]'],
    ['empty', ['a', 'b', ''], 'tags[2]'],
    ['of 101 bytes', ['x'.repeat(101)], 'tags[0]'],
    ['of 51 characters of two bytes', ['ä'.repeat(51)], 'tags[0]'],
    ['with a NUL', ['a\0'], 'tags[0]'],
    ['with a line feed', ['a\nb'], 'tags[0]'],
    ['with a C1 control', ['a\u0085'], 'tags[0]'],
    ['with a line separator', ['a\u2028'], 'tags[0]'],
    ['with a mark of direction', ['\u202egnp.exe'], 'tags[0]'],
    ['with half a character', ['a\ud83d'], 'tags[0]'],
    ['with what XML cannot carry', ['a\uffff'], 'tags[0]'],
  ] as const)
    it(`must not be ${what}`, () => {
      expect(refused(() => checkTags(received)).param).to.equal(param)
    })

  it('are refused with the reason, and a truncated value', () => {
    expect(refused(() => checkTags('red')).detail).to.equal(
      'expected an array of at most 50 texts for tags but received "red"',
    )
    expect(refused(() => checkTags(texts(51))).detail).to.equal(
      'expected an array of at most 50 texts for tags but received "51 texts"',
    )
    const { detail } = refused(() => checkTags(['x'.repeat(100_000)]))
    expect(detail).to.match(/^expected a text of 1 to 100 bytes without .* for tags\[0\] but received "x+…"$/)
    expect(detail.length).to.be.below(400)
  })
})

describe('the metadata of a file', () => {
  for (const [what, received] of [
    ['none', {}],
    ['texts', { a: 'b', 'A.b-c_9': 'ä "b"\n\0' }],
    ['an empty text', { a: '' }],
    ['a number’s text by a number', { 1: '2' }],
    ['names of 64 characters', { ['x'.repeat(64)]: 'a' }],
    ['values of 1024 bytes', { a: 'x'.repeat(1024), b: 'ä'.repeat(512) }],
    ['50 pairs', pairs(50)],
    ['16 KiB, names and all', full()],
    ['names that objects have', { constructor: 'a', toString: 'b', hasOwnProperty: 'c', length: '1' }],
  ] as const)
    it(`may be ${what}`, () => {
      expect(checkMetadata(received)).to.deep.equal(received)
    })

  for (const [what, received, param] of [
    ['nothing', undefined, 'metadata'],
    ['a text', 'a', 'metadata'],
    ['a number', 1, 'metadata'],
    ['an array', ['a'], 'metadata'],
    ['an empty array', [], 'metadata'],
    ['an empty name', { '': 'a' }, 'metadata'],
    ['a name of 65 characters', { ['x'.repeat(65)]: 'a' }, 'metadata'],
    ['a name with a space', { 'a b': 'c' }, 'metadata'],
    ['a name with an umlaut', { ä: 'c' }, 'metadata'],
    ['a name that ends with a line feed', { 'a\n': 'c' }, 'metadata'],
    ['a name with a slash', { 'a/b': 'c' }, 'metadata'],
    ['__proto__', named('__proto__', 'a'), 'metadata'],
    ['a number as a value', { a: 1 }, 'metadata.a'],
    ['true as a value', { a: true }, 'metadata.a'],
    ['an object as a value', { a: { b: 'c' } }, 'metadata.a'],
    ['an array as a value', { a: ['b'] }, 'metadata.a'],
    ['a value of 1025 bytes', { a: 'x'.repeat(1025) }, 'metadata.a'],
    ['a value of 513 characters of two bytes', { a: 'ä'.repeat(513) }, 'metadata.a'],
    ['half a character', { a: '\ud83d' }, 'metadata.a'],
    ['51 pairs', pairs(51), 'metadata'],
    ['a byte more than 16 KiB', full(1), 'metadata'],
  ] as const)
    it(`must not be ${what}`, () => {
      expect(refused(() => checkMetadata(received)).param).to.equal(param)
    })

  const present = { a: '1', b: '2' }
  for (const [what, before, change, after] of [
    ['nothing', present, {}, present],
    ['a new name', present, { c: '3' }, { a: '1', b: '2', c: '3' }],
    ['another value', present, { a: 'x' }, { a: 'x', b: '2' }],
    ['an empty value, which stays', present, { a: '' }, { a: '', b: '2' }],
    ['a name away', present, { a: null }, { b: '2' }],
    ['a name away that is not there', present, { c: null }, present],
    ['a name away that nothing may have', present, { 'ä b': null }, present],
    ['__proto__ away', present, named('__proto__', null), present],
    ['all away', present, null, {}],
    ['one in the place of another, where 50 are', pairs(50), { n0: null, n50: '' }, pairs(50, '', 1)],
    [
      'one in the place of another, named first',
      pairs(50),
      { m: '', n0: null },
      { m: '', ...pairs(49, '', 1) },
    ],
    ['fewer, where there is too much of them', pairs(60), pairs(50, null as never), pairs(10, '', 50)],
  ] as const)
    it(`may be changed by ${what}`, () => {
      const copy = structuredClone(before)
      expect(mergeMetadata(before, change)).to.deep.equal(after)
      expect(before, 'what was there is left alone').to.deep.equal(copy)
    })

  for (const [what, before, change] of [
    ['one more than 50', pairs(50), { more: '' }],
    ['a byte more than 16 KiB', full(), { 'name-199': 'x'.repeat(1017) }],
    ['nothing, where there is too much', pairs(51), {}],
    ['a wrong one among right ones', present, { a: 'x', b: null, c: 1 }],
  ] as const)
    it(`must not be changed by ${what}`, () => {
      refused(() => mergeMetadata(before, change))
    })

  it('is refused with the reason', () => {
    expect(refused(() => checkMetadata(pairs(51, 'ä'))).detail).to.equal(
      'expected at most 50 names and 16384 bytes in all for metadata but received "51 names and 245 bytes"',
    )
    expect(refused(() => checkMetadata({ 'a b': 'c' })).detail).to.equal(
      'expected 1 to 64 of A-Z a-z 0-9 _ . - in a name for metadata but received "a b"',
    )
  })

  it('cannot change the prototype of objects', () => {
    expect(() => mergeMetadata({}, named('__proto__', { polluted: 'yes' }))).to.throw(Problem)
    const merged = mergeMetadata({}, { constructor: 'a' })
    expect(Object.getPrototypeOf(merged)).to.equal(Object.prototype)
    expect({}).to.not.have.property('polluted')
  })
})

describe('a record with annotations', () => {
  for (const [what, record, said, expected] of [
    [
      'gets them',
      { key: 'k' },
      { tags: ['a'], metadata: { b: 'c' } },
      { key: 'k', tags: ['a'], metadata: { b: 'c' } },
    ],
    ['has none that are empty', { key: 'k' }, { tags: [], metadata: {} }, { key: 'k' }],
    [
      'loses all it had',
      { key: 'k', tags: ['a'], metadata: { b: 'c' } },
      { tags: [], metadata: {} },
      { key: 'k' },
    ],
    [
      'loses those it had and gets others',
      { key: 'k', tags: ['a'], metadata: { b: 'c' } },
      { tags: [], metadata: { d: 'e' } },
      { key: 'k', metadata: { d: 'e' } },
    ],
  ] as const)
    it(what, () => {
      expect(annotated(record, said)).to.deep.equal(expected)
    })
})
