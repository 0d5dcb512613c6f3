import { expect } from 'chai'
import { searchQuality } from '../../../src/core/media/quality-search.ts'

/** Searches where a quality makes as many bytes as `bytesOf` says, and tells what was tried. */
async function search(from: number, maxBytes: number, sizeOf = (quality: number) => quality * 100) {
  const tried: number[] = []
  const found = await searchQuality({
    from,
    maxBytes,
    async bytesOf(quality) {
      tried.push(quality)
      return sizeOf(quality)
    },
  })
  return { found, tried }
}

describe('searchQuality', () => {
  it('returns the highest quality at once when it fits', async () => {
    expect(await search(75, 7500)).to.deep.equal({ found: 75, tried: [75] })
  })

  for (const from of [100, 75, 50, 2, 1]) {
    it(`finds from ${from}, in at most seven tries, one that fits and is at most two below the best`, async () => {
      for (let best = 1; best < from; best += 1) {
        const { found, tried } = await search(from, best * 100 + 50)
        expect(found).to.be.within(Math.max(1, best - 2), best)
        expect(tried).to.have.length.of.at.most(7)
        expect(new Set(tried).size).to.equal(tried.length)
      }
    })
  }

  it('returns quality 1 when none fits', async () => {
    for (const from of [100, 75, 13, 2, 1]) {
      const { found, tried } = await search(from, 99)
      expect(found).to.equal(1)
      expect(tried).to.have.length.of.at.most(7)
    }
  })

  it('never returns one that is too large when another fits, even when sizes are not monotonic', async () => {
    const bytesOf = (quality: number) => (quality % 10 === 7 ? 10 : quality) * 100
    for (let maxBytes = 1000; maxBytes < 10_000; maxBytes += 500) {
      const { found } = await search(100, maxBytes, bytesOf)
      expect(bytesOf(found)).to.be.at.most(maxBytes)
    }
  })
})
