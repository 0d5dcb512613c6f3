import { expect } from 'chai'
import { didYouMean, nearest } from '../../../src/core/text/did-you-mean.ts'

describe('the word that was probably meant', () => {
  const KNOWN = ['w', 'width', 'h', 'height', 'fit', 'dpr', 'f', 'format', 'q', 'quality', 'blue']
  for (const [word, expected] of [
    ['widht', 'width'],
    ['WIDTH', 'width'],
    ['W', 'w'],
    ['dpi', 'dpr'],
    ['fits', 'fit'],
    ['ftis', 'fit'],
    ['fi', 'fit'],
    ['bleu', 'blue'],
    ['fomrat', 'format'],
    ['x', undefined],
    ['ww', undefined],
    ['hq', undefined],
    ['fox', undefined],
    ['quxxxty', undefined],
    ['', undefined],
    ['weight', 'height'],
    ['w'.repeat(5000), undefined],
  ] as const) {
    it(`is ${expected} for ${JSON.stringify(word.slice(0, 20))}`, () => {
      expect(nearest(word, KNOWN)).to.equal(expected)
    })
  }

  it('is appended to a message, if there is one', () => {
    expect(didYouMean('widht', KNOWN)).to.equal('; did you mean "width"?')
    expect(didYouMean('x', KNOWN)).to.equal('')
  })
})
