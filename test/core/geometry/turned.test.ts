import { expect } from 'chai'
import { ratioOf, reducedRatio } from '../../../src/core/geometry/ratio.ts'
import { turnedSize } from '../../../src/core/geometry/turned.ts'

describe('an image of 400 x 200 that is rotated', () => {
  for (const [angle, width, height] of [
    [0, 400, 200],
    [90, 200, 400],
    [180, 400, 200],
    [270, 200, 400],
    [45, 424, 424],
    [30, 446, 373],
    [330, 446, 373],
    [0.1, 400, 201],
  ] as const) {
    it(`by ${angle} degrees needs ${width} x ${height} px`, () => {
      expect(turnedSize({ width: 400, height: 200 }, angle)).to.deep.equal({ width, height })
    })
  }
})

describe('an aspect ratio', () => {
  for (const [given, reduced] of [
    [
      [16, 9],
      [16, 9],
    ],
    [
      [32, 18],
      [16, 9],
    ],
    [
      [1.6, 0.9],
      [16, 9],
    ],
    [
      [1.5, 1],
      [3, 2],
    ],
    [
      [0.001, 5000],
      [1, 5000000],
    ],
    [
      [1, 1],
      [1, 1],
    ],
  ] as const) {
    it(`of ${given.join(':')} is ${reduced.join(':')}`, () => {
      expect(reducedRatio(given)).to.deep.equal(reduced)
      expect(ratioOf(reduced)).to.be.closeTo(ratioOf(given), 1e-9)
    })
  }
})
