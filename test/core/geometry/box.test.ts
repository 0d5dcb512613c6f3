import { expect } from 'chai'
import { type Box, boxAround, clippedBox, isWhole, unionOf } from '../../../src/core/geometry/box.ts'

const box = (left: number, top: number, width: number, height: number): Box => ({ left, top, width, height })

describe('boxes', () => {
  for (const [given, clipped] of [
    [box(0, 0, 100, 50), box(0, 0, 100, 50)],
    [box(10, 20, 30, 10), box(10, 20, 30, 10)],
    [box(90, 40, 30, 30), box(90, 40, 10, 10)],
    [box(-10, -5, 30, 10), box(0, 0, 20, 5)],
    [box(-10, -10, 500, 500), box(0, 0, 100, 50)],
    [box(99, 49, 1, 1), box(99, 49, 1, 1)],
    [box(100, 0, 10, 10), undefined],
    [box(0, 50, 10, 10), undefined],
    [box(-10, 0, 10, 10), undefined],
    [box(0, -10, 10, 10), undefined],
  ] as const) {
    it(`are clipped to an image of 100 x 50: ${Object.values(given)}`, () => {
      expect(clippedBox(given, { width: 100, height: 50 })).to.deep.equal(clipped)
    })
  }

  it('have a union', () => {
    expect(unionOf([])).to.equal(undefined)
    expect(unionOf([box(1, 2, 3, 4)])).to.deep.equal(box(1, 2, 3, 4))
    expect(unionOf([box(10, 20, 5, 5), box(0, 30, 2, 50), box(11, 21, 1, 1)])).to.deep.equal(
      box(0, 20, 15, 60),
    )
  })

  for (const [x, y, placed] of [
    [0.5, 0.5, box(40, 20, 20, 10)],
    [0, 0, box(0, 0, 20, 10)],
    [1, 1, box(80, 40, 20, 10)],
    [0.05, 0.98, box(0, 40, 20, 10)],
    [0.25, 0.75, box(15, 32.5, 20, 10)],
  ] as const) {
    it(`are centred on a point as far as the image allows: ${x}, ${y}`, () => {
      expect(boxAround({ x, y }, { width: 20, height: 10 }, { width: 100, height: 50 })).to.deep.equal(placed)
    })
  }

  it('are whole when both sides equal those of the image', () => {
    const picture = { width: 4, height: 3 }
    expect(isWhole({ width: 4, height: 3 }, picture)).to.equal(true)
    expect(isWhole({ width: 4, height: 2 }, picture)).to.equal(false)
    expect(isWhole({ width: 3, height: 3 }, picture)).to.equal(false)
  })
})
