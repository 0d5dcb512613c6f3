import { expect } from 'chai'
import sharp from 'sharp'
import { shareBytesOfClones } from '../../src/engines/sharp-clone.ts'
import { picture } from '../support/images.ts'

const MB = 1_000_000
const pixel = { width: 1, height: 1, channels: 4 } as const

describe('a clone of a draft', () => {
  before(shareBytesOfClones)

  it('shares the bytes of the picture, all the memory that they are a part of, and those of layers', () => {
    const all = Buffer.alloc(40 * MB)
    const draft = sharp(all.subarray(0, 4), { raw: pixel }).composite([
      { input: all.subarray(4, 8), raw: pixel },
    ])
    const before = process.memoryUsage().arrayBuffers
    // Kept, so that nothing is collected meanwhile.
    const clones = Array.from({ length: 10 }, () => draft.clone())
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(20 * MB)
    expect(clones).to.have.length(10)
  })

  it('is a draft of its own, and leaves the other as it was', async () => {
    const layer = await picture({ width: 10, height: 10 })
    const draft = sharp(await picture({ width: 40, height: 30 })).composite([{ input: layer }])
    const clone = draft.clone().resize(20).greyscale()
    const again = clone.clone()
    const [first, second, original] = await Promise.all(
      [clone, again, draft].map((each) => each.raw().toBuffer({ resolveWithObject: true })),
    )
    expect(first?.info).to.include({ width: 20, height: 15 })
    expect(second?.data.equals(first?.data ?? Buffer.alloc(0))).to.equal(true)
    expect(original?.info).to.include({ width: 40, height: 30 })
  })

  it('of a stream still gets what comes through it', async () => {
    const stream = sharp()
    const clone = stream.clone().resize(20)
    stream.end(await picture({ width: 40, height: 30 }))
    expect((await clone.toBuffer({ resolveWithObject: true })).info).to.include({ width: 20, height: 15 })
  })
})
