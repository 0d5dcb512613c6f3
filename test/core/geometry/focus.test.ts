import { expect } from 'chai'
import { COMPASS, COMPASS_SYNONYMS, focusOfBoxes } from '../../../src/core/geometry/focus.ts'

const SOURCE = { width: 200, height: 100 }
const face = (left: number, top: number, side: number) => ({ left, top, width: side, height: side })

describe('the focus of a crop', () => {
  it('has nine directions, with synonyms', () => {
    expect(Object.values(COMPASS).map(({ x, y }) => `${x} ${y}`)).to.have.length(9)
    expect(new Set(Object.values(COMPASS).map(({ x, y }) => `${x} ${y}`)).size).to.equal(9)
    for (const word of Object.values(COMPASS_SYNONYMS)) expect(COMPASS).to.have.property(word)
  })

  it('is the centre of all detected boxes when the crop can contain them', () => {
    const faces = [face(20, 20, 20), face(80, 40, 40)]
    expect(focusOfBoxes(faces, { width: 100, height: 60 }, SOURCE)).to.deep.equal({ x: 0.35, y: 0.5 })
  })

  it('is the centre of the largest box otherwise', () => {
    const faces = [face(20, 20, 20), face(80, 40, 40)]
    for (const cut of [
      { width: 99, height: 60 },
      { width: 100, height: 59 },
    ])
      expect(focusOfBoxes(faces, cut, SOURCE)).to.deep.equal({ x: 0.5, y: 0.6 })
  })

  it('is undefined without detected boxes', () => {
    expect(focusOfBoxes([], SOURCE, SOURCE)).to.equal(undefined)
  })
})
