import { expect } from 'chai'
import { timeText } from '../../../client/uploader/element/format.ts'
import { TEXTS } from '../../../client/uploader/element/texts.ts'
import { createRate } from '../../../client/uploader/queue/rate.ts'

describe('the remaining time of uploads', () => {
  /** Estimates for the bytes that are sent at some seconds. */
  function estimates(...sent: Array<[second: number, sentBytes: number]>) {
    let time = 0
    const rate = createRate(() => time)
    return sent.map(([second, sentBytes]) => {
      time = 1000 * second
      return rate.secondsLeft({ sentBytes, totalBytes: 1000 })
    })
  }

  it('is unknown for two seconds, and while nothing is sent', () => {
    expect(estimates([0, 0], [1, 100], [2, 200])).to.deep.equal([undefined, undefined, 8])
    expect(estimates([0, 100], [3, 100])).to.deep.equal([undefined, undefined])
  })

  it('follows the rate of the last eight seconds', () => {
    expect(estimates([0, 0], [4, 40], [8, 440], [10, 640]).at(-1)).to.equal(3.6)
  })

  it('is estimated again when a file begins again', () => {
    expect(estimates([0, 0], [4, 400], [5, 0], [6, 100], [7, 200]).slice(1)).to.deep.equal([
      6,
      undefined,
      undefined,
      8,
    ])
  })

  for (const [seconds, text] of [
    [-1, '1 s'],
    [0.2, '1 s'],
    [89, '89 s'],
    [89.1, '2 min'],
    [121, '3 min'],
    [5399, '90 min'],
    [5400, '2 h'],
    [7201, '3 h'],
  ] as const)
    it(`is shown as ${text} for ${seconds} s`, () => {
      expect(timeText(seconds, TEXTS)).to.equal(text)
    })
})
