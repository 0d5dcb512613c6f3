import { expect } from 'chai'
import fc from 'fast-check'
import { BLOCK } from '../../../../src/adapters/file-index/redis/search/lua.ts'
import {
  intersection,
  sealed,
  trigramsOf,
} from '../../../../src/adapters/file-index/redis/search/postings.ts'
import { folded } from '../../../../src/core/text/folded.ts'
import { holds } from '../../../contracts/property.ts'

describe('the terms of a name in Redis', () => {
  const names = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 })

  it('include those of every part of the name, folded or not', () =>
    holds(
      fc.property(names, fc.nat(), fc.nat(), (name, from, length) => {
        const characters = [...folded(name)]
        const start = from % characters.length
        const part = characters.slice(start, start + 1 + (length % 40)).join('')
        const all = trigramsOf(folded(name)).map((term) => term.toString('hex'))
        const ofPart = trigramsOf(folded(part)).map((term) => term.toString('hex'))
        expect(all).to.include.members(ofPart)
        expect(ofPart.length > 0).to.equal(Buffer.byteLength(folded(part)) >= 3)
        expect(new Set(all).size).to.equal(all.length)
      }),
    ))
})

describe('the postings of a term in Redis', () => {
  const posting = (ordinals: readonly number[]) => {
    const bytes = Buffer.alloc(2 * ordinals.length)
    for (const [i, ordinal] of ordinals.entries()) bytes.writeUInt16BE(ordinal, 2 * i)
    return bytes
  }
  const every = (step: number, from = 0) =>
    Array.from({ length: Math.ceil((BLOCK - from) / step) }, (_, i) => from + i * step)
  const all = { most: BLOCK }

  it('have the same numbers when they are sealed', () => {
    for (const ordinals of [[], [7], [0, BLOCK - 1], every(16), every(3, 2), every(1)]) {
      const bytes = sealed(posting(ordinals))
      expect(bytes.length).to.equal(Math.min(2 * ordinals.length, BLOCK / 8 + 3))
      expect(intersection([bytes], all)).to.deep.equal(ordinals)
    }
  })

  it('have the numbers that are in all of them, in each form', () => {
    const some = [posting(every(35, 14)), posting(every(3, 2)), posting(every(5, 4))]
    const expected = every(105, 14)
    for (const forms of [[], [0], [1], [2], [0, 1], [1, 2], [0, 1, 2]]) {
      const postings = some.map((one, i) => (forms.includes(i) ? sealed(one) : one))
      expect(intersection(postings, all), `${forms}`).to.deep.equal(expected)
    }
    expect(intersection([posting([1, 5]), posting([])], all)).to.deep.equal([])
  })

  it('are read until one number more than the maximum is found', () => {
    expect(intersection([posting(every(1)), sealed(posting(every(2)))], { most: 3 })).to.deep.equal([
      0, 2, 4, 6,
    ])
  })
})
