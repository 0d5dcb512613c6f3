import { expect } from 'chai'
import type { VideoDraft } from '../../../../src/engines/ffmpeg/video-source.ts'
import { boardOf } from '../../../../src/engines/video/storyboard-arguments.ts'

const draft = { input: { source: { width: 1920, height: 1080 } } } as VideoDraft
const times = { untilSeconds: 0, headerSeconds: undefined, keyFramesApartSeconds: 2 }
const HOUR = 3600

describe('the layout of a storyboard', () => {
  for (const [seconds, count, intervalSeconds] of [
    [0, 1, 1],
    [0.04, 1, 1],
    [1, 1, 1],
    // The end of the sound in a file whose pictures begin a little later.
    [3.02, 3, 1],
    [3.04, 4, 1],
    [100, 100, 1],
    [101, 51, 2],
    [600, 60, 10],
    [1.5 * HOUR, 90, 60],
    [50 * HOUR, 100, 1800],
    [51 * HOUR, 51, HOUR],
    [250 * HOUR, 84, 3 * HOUR],
  ] as const) {
    it(`has ${count} tiles for ${seconds} s, one every ${intervalSeconds} s`, () => {
      const board = boardOf(draft, { ...times, untilSeconds: seconds })
      expect(board).to.include({ count, intervalSeconds, columns: Math.min(10, count) })
      expect(board.untilSeconds).to.equal(seconds)
      expect(board.tile).to.deep.equal({ width: 160, height: 90 })
    })
  }

  for (const [seconds, apart, ofKeyFrames] of [
    [90, 0.5, true],
    [90, 0.6, false],
    [500, 2.5, true],
    [500, 2.6, false],
    [600, 10, true],
    // As far as 50.1 s from 40.1 s, in numbers of a computer.
    [600, 10.000000000000007, true],
    [600, 10.1, false],
    [600, Number.POSITIVE_INFINITY, false],
  ] as const) {
    it(`uses ${ofKeyFrames ? 'key frames' : 'any frames'} for ${seconds} s with a key frame every ${apart} s`, () => {
      const board = boardOf(draft, { ...times, untilSeconds: seconds, keyFramesApartSeconds: apart })
      expect(board.ofKeyFrames).to.equal(ofKeyFrames)
    })
  }

  for (const [width, height, tile] of [
    [480, 270, { width: 160, height: 90 }],
    [33, 17, { width: 32, height: 16 }],
    [4000, 16, { width: 160, height: 2 }],
    [16, 4000, { width: 2, height: 160 }],
  ] as const) {
    it(`has tiles with even sides, never enlarged: ${tile.width}x${tile.height} for ${width}x${height}`, () => {
      const sized = { input: { source: { width, height } } } as VideoDraft
      expect(boardOf(sized, times).tile).to.deep.equal(tile)
    })
  }

  it('ends at the end of the requested part, audio included', () => {
    const heard = { ...times, untilSeconds: 5, headerSeconds: 8 }
    expect(boardOf(draft, heard)).to.include({ count: 5, untilSeconds: 8 })
    expect(boardOf({ ...draft, startSeconds: 2 }, heard)).to.include({ count: 3, untilSeconds: 6 })
    expect(boardOf({ ...draft, startSeconds: 2, endSeconds: 7 }, heard)).to.include({ untilSeconds: 5 })
    expect(boardOf({ ...draft, startSeconds: 6 }, heard)).to.include({ count: 1, untilSeconds: 2 })
  })
})
