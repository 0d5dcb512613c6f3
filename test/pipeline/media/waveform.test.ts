import { expect } from 'chai'
import { findPeaks } from '../../../src/engines/audio/waveform.ts'

/** Samples as ffmpeg writes them. */
function pcm(samples: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * samples.length)
  for (const [i, sample] of samples.entries()) bytes.writeInt16LE(sample, 2 * i)
  return bytes
}

describe('the peaks of samples', () => {
  // Up and down, ever further: of each pair the second is the extreme of its sign.
  const SAMPLES = Array.from({ length: 37 }, (_, i) => (i % 2 === 0 ? 100 : -90) * i)

  function peaksOf(samples: readonly number[], { atMost, maxParts = 8, pieces = [1000] }: Options) {
    const finder = findPeaks(maxParts)
    const bytes = pcm(samples)
    for (let at = 0, i = 0; at < bytes.length; i += 1) {
      const size = pieces[i % pieces.length] ?? 1
      finder.take(bytes.subarray(at, at + size))
      at += size
    }
    const { data, samplesPerPart } = finder.peaks(atMost)
    return { data: [...data], samplesPerPart }
  }
  interface Options {
    atMost: number
    maxParts?: number
    pieces?: readonly number[]
  }

  /** The same, by definition. */
  function expected(samples: readonly number[], each: number) {
    const parts = Array.from({ length: Math.ceil(samples.length / each) }, (_, i) =>
      samples.slice(i * each, (i + 1) * each),
    )
    return { data: parts.flatMap((part) => [Math.min(...part), Math.max(...part)]), samplesPerPart: each }
  }

  it('are the samples themselves when they fit', () => {
    expect(peaksOf([5, -3, 7], { atMost: 8 })).to.deep.equal(expected([5, -3, 7], 1))
  })

  for (const [atMost, each] of [
    [8, 8],
    [5, 8],
    [3, 16],
    [2, 24],
    [1, 40],
  ] as const) {
    it(`are merged into at most ${atMost} parts`, () => {
      expect(peaksOf(SAMPLES, { atMost })).to.deep.equal(expected(SAMPLES, each))
    })
  }

  it('are the same for any pieces, even when a piece ends within a sample', () => {
    for (const pieces of [[1], [3], [2, 5, 1], [7]])
      expect(peaksOf(SAMPLES, { atMost: 5, pieces }), `${pieces}`).to.deep.equal(expected(SAMPLES, 8))
  })

  it('are empty without samples', () => {
    expect(peaksOf([], { atMost: 5 }).data).to.deep.equal([])
  })
})
