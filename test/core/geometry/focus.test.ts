import { expect } from 'chai'
import { COMPASS, COMPASS_SYNONYMS, focusOfBoxes, zoomThatShows } from '../../../src/core/geometry/focus.ts'

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

  it('keeps as many of the boxes as the crop can contain, the largest ones first', () => {
    const faces = [face(0, 0, 10), face(80, 40, 40), face(60, 50, 20), face(180, 50, 10)]
    expect(focusOfBoxes(faces, { width: 70, height: 60 }, SOURCE)).to.deep.equal({ x: 0.45, y: 0.6 })
    expect(focusOfBoxes(faces, { width: 130, height: 60 }, SOURCE)).to.deep.equal({ x: 0.625, y: 0.6 })
  })

  it('reduces the zoom to show all boxes, with a margin of a fifth', () => {
    const cut = { width: 50, height: 25 }
    expect(zoomThatShows([face(20, 20, 10)], cut, 4)).to.equal(4)
    expect(zoomThatShows([face(20, 20, 25)], cut, 4)).to.be.closeTo((4 * 25) / 35, 1e-9)
    expect(zoomThatShows([face(0, 0, 10), face(190, 0, 10)], cut, 4)).to.equal(1)
    expect(zoomThatShows([], cut, 4)).to.equal(4)
  })

  it('is undefined without detected boxes', () => {
    expect(focusOfBoxes([], SOURCE, SOURCE)).to.equal(undefined)
  })
})
