import { expect } from 'chai'
import fc from 'fast-check'
import { folded } from '../../../src/core/text/folded.ts'
import { holds } from '../../contracts/property.ts'

// Letters with one form in each case. Others have several: "ß" becomes "SS", and a sigma at the end of a word has a form of its own.
const LETTERS = [...'abzäöüéçñåøœæþðšžőłабвгдежзийклмнопяёїαβγδεζηθικλμνξοπρτυφχψωάέ0 1-_.']

describe('a folded text', () => {
  const words = fc.string({ unit: fc.constantFrom(...LETTERS) })

  it('is the same for each case', () =>
    holds(
      fc.property(words, (text) => {
        expect(folded(text.toUpperCase())).to.equal(folded(text))
      }),
    ))

  it('is the same whether accents are composed or not, for any text', () =>
    holds(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(folded(text.normalize('NFD'))).to.equal(folded(text))
      }),
    ))

  it('contains a folded part of the text', () =>
    holds(
      fc.property(words, words, words, (before, part, after) => {
        expect(folded(`${before}${part}${after}`.normalize('NFD'))).to.include(folded(part.toUpperCase()))
      }),
    ))

  it('is different for different letters', () => {
    expect(new Set(LETTERS.map(folded)).size).to.equal(LETTERS.length)
  })
})
