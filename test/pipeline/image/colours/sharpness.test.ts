import { expect } from 'chai'
import sharp from 'sharp'
import { animation, colourAt, picture } from '../../../support/media/images.ts'
import { itLong } from '../../../support/sized.ts'
import { transformed } from '../transform.ts'

/** Left half black, right half white. */
async function edge(width = 200, height = 60): Promise<Buffer> {
  const white = { create: { width: width / 2, height, channels: 3 as const, background: '#fff' } }
  return sharp({ create: { width, height, channels: 3, background: '#000' } })
    .composite([{ input: white, left: width / 2, top: 0 }])
    .png()
    .toBuffer()
}

/** How wide the way from a quarter to three quarters of white is, in px. */
async function softness(bytes: Buffer): Promise<number> {
  const { data, info } = await sharp(bytes).greyscale().raw().toBuffer({ resolveWithObject: true })
  const row = data.subarray(Math.floor(info.height / 2) * info.width).subarray(0, info.width)
  return row.filter((value) => value > 64 && value < 192).length
}

/** How far apart the colours of two pictures are at most, 0 to 255. */
async function distance(a: Buffer, b: Buffer): Promise<number> {
  const [one, other] = await Promise.all([a, b].map((bytes) => sharp(bytes).ensureAlpha().raw().toBuffer()))
  if (!one || !other || one.length !== other.length) throw new Error('the pictures differ in size')
  return one.reduce((most, value, i) => Math.max(most, Math.abs(value - (other[i] ?? 0))), 0)
}

describe('image-blur', () => {
  itLong('blurs more with a larger sigma', async () => {
    const sharpest = await edge(2000, 20)
    const widths = []
    for (const sigma of [0.3, 2, 10, 38, 42, 100, 250]) {
      widths.push(await softness((await transformed(sharpest, `blur=${sigma}`)).bytes))
    }
    expect(widths[0]).to.equal(0)
    // A Gaussian step goes from a quarter to three quarters within 1.35 sigma; sharp cuts its tails off.
    for (const [i, sigma] of [2, 10, 38, 42, 100, 250].entries()) {
      expect((widths[i + 1] ?? 0) / sigma, `sigma ${sigma}: ${widths}`).to.be.within(0.9, 1.6)
    }
  })

  it('looks the same whether or not the image is shrunk on load', async () => {
    const source = await picture({ width: 600, height: 400 })
    const outcome = async (sigma: number) => (await transformed(source, `blur=${sigma}`)).bytes
    expect(await distance(await outcome(40), await outcome(40.2))).to.be.below(8)
    expect(await distance(source, await outcome(40))).to.be.above(60)
  })

  it('blurs the image in its output size', async () => {
    const source = await edge(2000, 60)
    const small = await transformed(source, 'w=200&blur=6')
    expect(small.metadata).to.include({ width: 200, height: 6 })
    expect(await softness(small.bytes)).to.be.within(5, 10)
    const far = await transformed(source, 'w=1000&blur=50')
    expect(far.metadata).to.include({ width: 1000, height: 30 })
    expect(await softness(far.bytes)).to.be.within(45, 80)
  })

  itLong('looks the same with a device pixel ratio of 2', async () => {
    // Dark grey and light grey, so that what is sharpened is cut off nowhere.
    const source = await sharp(await edge(2000, 60))
      .linear(0.4, 60)
      .png()
      .toBuffer()
    for (const [one, two] of [
      ['w=300&blur=3&dpr=2', 'w=600&blur=6'],
      ['w=300&blur=30&dpr=2', 'w=600&blur=60'],
      ['w=300&sharpen_sigma=2&dpr=2', 'w=600&sharpen_sigma=4'],
      ['w=300&sharpen_sigma=9&dpr=2', 'w=600&sharpen_sigma=10'],
    ] as const) {
      const [a, b] = [await transformed(source, one), await transformed(source, two)]
      expect(await distance(a.bytes, b.bytes), one).to.equal(0)
    }
    expect((await transformed(source, 'w=300&blur=1000&dpr=3')).metadata.width).to.equal(900)
  })

  for (const [width, height] of [
    [1, 1],
    [3, 900],
    [900, 3],
  ] as const) {
    it(`accepts an image of ${width} x ${height} px with any sigma`, async () => {
      const { metadata } = await transformed(await picture({ width, height }), 'blur=1000')
      expect(metadata).to.include({ width, height })
    })
  }

  itLong('takes no longer for a huge sigma than for a large one', async () => {
    const source = await picture({ width: 3000, height: 2000, format: 'jpeg' })
    // Minutes when it is done as sharp does it.
    const { metadata } = await transformed(source, 'blur=1000&q=1', { format: 'jpeg' })
    expect(metadata).to.include({ width: 3000, height: 2000 })
  })

  for (const sigma of [6, 60]) {
    it(`blurs transparency as well, and shows no colour of transparent pixels: sigma ${sigma}`, async () => {
      const nothing = { r: 255, g: 0, b: 0, alpha: 0 }
      const source = await sharp({ create: { width: 240, height: 240, channels: 4, background: nothing } })
        .composite([
          {
            input: { create: { width: 120, height: 240, channels: 4, background: '#00f' } },
            left: 0,
            top: 0,
          },
        ])
        .png()
        .toBuffer()
      const { bytes } = await transformed(source, `blur=${sigma}`)
      const { r, b, a } = await colourAt(bytes, 121, 120)
      expect(a).to.be.within(90, 165)
      expect(r).to.be.below(8)
      expect(b).to.be.above(240)
    })

    it(`does not mix frames: sigma ${sigma}`, async () => {
      const { bytes } = await transformed(await animation(), `blur=${sigma}&f=webp`, { format: 'gif' })
      for (const [page, colour] of ['r', 'g', 'b'].entries()) {
        const frame = await sharp(bytes, { page, pages: 1 }).png().toBuffer()
        for (const y of [0, 15, 29]) {
          const at = await colourAt(frame, 20, y)
          expect(at[colour as 'r'], `frame ${page} at ${y}`).to.be.above(240)
          expect(at.r + at.g + at.b, `frame ${page} at ${y}`).to.be.below(275)
        }
      }
    })
  }
})

describe('image-sharpen', () => {
  for (const query of ['sharpen', 'sharpen_sigma=1', 'sharpen_sigma=5']) {
    it(`sharpens a soft edge: ${query}`, async () => {
      const soft = (await transformed(await edge(), 'blur=1')).bytes
      const { bytes } = await transformed(soft, query)
      expect(await distance(soft, bytes)).to.be.above(2)
      expect(await softness(bytes)).to.be.at.most(await softness(soft))
    })

    it(`keeps transparency: ${query}`, async () => {
      const create = {
        width: 20,
        height: 20,
        channels: 4,
        background: { r: 9, g: 99, b: 199, alpha: 0.5 },
      } as const
      const { bytes } = await transformed(await sharp({ create }).png().toBuffer(), query)
      expect((await colourAt(bytes, 10, 10)).a).to.be.within(126, 130)
    })

    it(`does not mix frames: ${query}`, async () => {
      // Sharpened in one piece, the frames' edges would come out darker or lighter than their middles.
      const frames = await animation({ colours: ['#333', '#ccc', '#333'] })
      const { bytes } = await transformed(frames, `${query}&f=webp&q=100`, { format: 'gif' })
      for (const [page, value] of [0x33, 0xcc, 0x33].entries()) {
        const frame = await sharp(bytes, { page, pages: 1 }).png().toBuffer()
        for (const y of [0, 15, 29]) {
          expect((await colourAt(frame, 20, y)).g, `frame ${page} at ${y}`).to.be.closeTo(value, 4)
        }
      }
    })
  }
})

describe('sharpen=auto', () => {
  /** The greatest difference of two neighbours in the middle row, from 0 to 255. */
  async function contrast(bytes: Buffer): Promise<number> {
    const { data, info } = await sharp(bytes).greyscale().raw().toBuffer({ resolveWithObject: true })
    const row = [...data.subarray(Math.floor(info.height / 2) * info.width).subarray(0, info.width)]
    return Math.max(...row.slice(1).map((value, i) => Math.abs(value - (row[i] ?? 0))))
  }

  /** Dark grey and light grey, so that no sharpened value is cut off. The edge is within an output pixel. */
  const soft = async () =>
    sharp(await edge(1202, 60))
      .linear(0.4, 60)
      .blur(2)
      .png()
      .toBuffer()

  it('raises the contrast of edges mildly after a strong reduction', async () => {
    const source = await soft()
    const of = async (query: string) => contrast((await transformed(source, query)).bytes)
    const [none, mild, usual] = [await of('w=300'), await of('w=300&sharpen=auto'), await of('w=300&sharpen')]
    expect(mild / none, `${none} ${mild} ${usual}`).to.be.within(1.1, 1.5)
    expect(mild).to.be.below(usual)
  })

  itLong('changes nothing after a weak reduction, a crop or without a resize', async () => {
    const source = await sharp(await edge(1202, 60))
      .linear(0.4, 60)
      .png()
      .toBuffer()
    for (const query of ['w=700', 'w=100&zoom=10', 'ar=1:1', 'q=80', 'h=60&w=200']) {
      const [plain, sharpened] = [
        await transformed(source, query),
        await transformed(source, `${query}&sharpen=auto`),
      ]
      expect(await distance(plain.bytes, sharpened.bytes), query).to.equal(0)
    }
  })

  it('does not change flat areas, and sharpens each frame of an animation', async () => {
    const flat = await picture({ width: 400, height: 300 })
    const grey = await sharp(flat).flatten().linear(0, 120).png().toBuffer()
    expect(
      await distance(
        (await transformed(grey, 'w=100')).bytes,
        (await transformed(grey, 'w=100&sharpen=auto')).bytes,
      ),
    ).to.equal(0)
    const { metadata } = await transformed(await animation(), 'w=10&sharpen=auto', { format: 'gif' })
    expect(metadata.pages).to.be.above(1)
  })
})
