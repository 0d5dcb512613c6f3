import { expect } from 'chai'
import sharp from 'sharp'
import type { Engine, EngineName } from '../../../src/core/plugin-api/plugin.ts'
import { Problem } from '../../../src/core/problem.ts'
import { sharpEngine, watchedEngine } from '../../support/media/engines.ts'
import { animation, picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { everyNth, itLong, sized } from '../../support/sized.ts'
import { loadWith } from '../load/drop-ins.ts'
import { corners } from './geometry/corners.ts'
import { transformed } from './transform.ts'

/** A picture that compresses badly, so that quality shows. */
function noise(width = 120, height = width): Promise<Buffer> {
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 60 }
  const create = { width, height, channels: 3 as const, background: '#000', noise }
  return sharp({ create }).png().toBuffer()
}

const pixels = (bytes: Uint8Array) => sharp(bytes).raw().toBuffer()

describe('lossless', () => {
  for (const format of ['webp', 'avif', 'tiff', 'png'] as const) {
    it(`keeps each pixel in ${format}, which quality does not`, async () => {
      const source = await noise()
      const original = await pixels(source)
      const { bytes, mediaType } = await transformed(source, `f=${format}&lossless`)
      expect(mediaType).to.equal(`image/${format}`)
      expect((await pixels(bytes)).equals(original)).to.equal(true)
      if (format === 'png') return
      const lossy = await transformed(source, `f=${format}&q=90`)
      expect((await pixels(lossy.bytes)).equals(original)).to.equal(false)
    })
  }

  it('keeps transparency in TIFF', async () => {
    const half = await sharp({ create: { width: 9, height: 9, channels: 4, background: '#ff000080' } })
      .png()
      .toBuffer()
    const { bytes } = await transformed(half, 'f=tiff&lossless')
    const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
    expect([info.channels, ...data.subarray(0, 4)]).to.deep.equal([4, 255, 0, 0, 128])
  })
})

describe('maxbytes', () => {
  for (const format of ['jpeg', 'webp', 'avif', 'tiff'] as const) {
    it(`lowers the quality of ${format} until it fits, and no further than needed`, async () => {
      const source = await noise()
      const sizeAt = async (q: number) => (await transformed(source, `f=${format}&q=${q}`)).bytes.length
      const maxBytes = Math.round(((await sizeAt(20)) + (await sizeAt(75))) / 2)
      const { bytes, metadata } = await transformed(source, `f=${format}&maxbytes=${maxBytes}`)
      expect(bytes.length).to.be.at.most(maxBytes)
      expect(bytes.length).to.be.above(await sizeAt(20))
      expect(metadata).to.include({ width: 120, height: 120 })
    })
  }

  it('changes nothing when the image fits already', async () => {
    const source = await noise()
    const usual = await transformed(source, 'f=webp&q=60')
    const { bytes } = await transformed(source, `f=webp&q=60&maxbytes=${usual.bytes.length}`)
    expect(bytes.equals(usual.bytes)).to.equal(true)
  })

  it('gives the smallest result when none is small enough', async () => {
    const source = await noise()
    const [smallest, asked] = await Promise.all(
      ['q=1', 'maxbytes=1'].map((query) => transformed(source, `f=jpeg&${query}`)),
    )
    expect(asked?.bytes.length).to.equal(smallest?.bytes.length)
  })

  it('decodes once, and encodes at most seven times, including the result', async () => {
    const watched = watchedEngine()
    const engines = new Map<EngineName, Engine>([['sharp', watched.engine]])
    await transformed(await noise(), 'w=80&f=jpeg&q=100&maxbytes=1', { engines })
    expect([watched.opened, watched.rendered]).to.deep.equal([1, 7])
    await transformed(await noise(), 'w=80&f=jpeg&maxbytes=1000000', { engines })
    expect([watched.opened, watched.rendered]).to.deep.equal([2, 8])
  })

  it('refuses images that are too large to encode seven times with a 422', async () => {
    const large = await picture({ width: 3500, height: 2500, format: 'jpeg' })
    for (const [query, message] of everyNth(2, [
      [
        'maxbytes=9',
        'at most 8000000 pixels over all frames for maxbytes as jpeg but this one is 3500 x 2500 px',
      ],
      ['f=webp&w=3400&maxbytes=9', 'as webp but this one is 3400 x 2429 px. Request a smaller size.'],
      ['f=avif&w=1700&maxbytes=9', 'at most 2000000 pixels over all frames for maxbytes as avif but'],
    ] as const)) {
      const problem = await rejection(transformed(large, query, { format: 'jpeg' }))
      expect(problem).to.be.instanceOf(Problem).and.include({ status: 422, code: 'not_transformable' })
      expect((problem as Problem).message, query).to.include(message)
    }
  })

  itLong('refuses animations that are too large for it', async () => {
    const frames = await animation({ width: 2000, height: 1500, format: 'webp' })
    expect(await rejection(transformed(frames, 'maxbytes=9', { format: 'webp' })))
      .to.have.property('message')
      .that.includes('2000 x 1500 px in 3 frames')
  })

  it('stops between two encodings when no client waits any more', async () => {
    const watched = watchedEngine()
    const engines = new Map<EngineName, Engine>([['sharp', watched.engine]])
    const leaving = new AbortController()
    const { render } = watched.engine
    watched.engine.render = (...args) => {
      if (watched.rendered === 1) leaving.abort()
      return render(...args)
    }
    const { signal } = leaving
    await rejection(transformed(await noise(), 'f=jpeg&maxbytes=1', { engines, signal }))
    expect(watched.rendered).to.equal(2)
  })

  it('turns a transparent image into a JPEG on white', async () => {
    const clear = await sharp({ create: { width: 20, height: 20, channels: 4, background: '#ff000000' } })
      .png()
      .toBuffer()
    const { bytes, metadata } = await transformed(clear, 'f=jpeg&maxbytes=400')
    expect(metadata.hasAlpha).to.equal(false)
    expect(await corners(bytes)).to.equal('wwww')
  })
})

describe('f=auto', () => {
  const accept = 'image/avif,image/webp,*/*'

  it('is AVIF for a result of up to four megapixels, WebP above', async () => {
    const large = await picture({ width: 2500, height: 2000, format: 'jpeg' })
    for (const [query, mediaType] of [
      ['f=auto', 'image/webp'],
      ...sized([], [['f=auto&w=2235', 'image/avif'] as const, ['f=auto&w=2300&q=40', 'image/webp'] as const]),
      // With f=auto, q is the quality of WebP; the output looks the same.
      ['f=auto&w=300', 'image/avif'],
    ] as const) {
      const outcome = await transformed(large, query, { format: 'jpeg', accept })
      expect(outcome.mediaType, query).to.equal(mediaType)
      expect(await corners(outcome.bytes), query).to.equal('rgbw')
    }
  })

  itLong('is WebP at a lower size when the quality is searched', async () => {
    const middling = await picture({ width: 1800, height: 1200, format: 'jpeg' })
    for (const [query, mediaType] of [
      ['f=auto&maxbytes=100000', 'image/webp'],
      ['f=auto&maxbytes=100000&w=1700', 'image/avif'],
      ['f=auto', 'image/avif'],
    ] as const) {
      const outcome = await transformed(middling, query, { format: 'jpeg', accept })
      expect(outcome.mediaType, query).to.equal(mediaType)
    }
  })

  itLong('depends on the result size, without a pass to find it', async () => {
    let settled = 0
    const counting: Engine<'sharp'> = {
      ...sharpEngine,
      settle(...args) {
        settled += 1
        return sharpEngine.settle(...args)
      },
    }
    const engines = new Map<EngineName, Engine>([['sharp', counting]])
    const source = await picture({ width: 2100, height: 1900, format: 'jpeg', orientation: 6 })
    for (const [query, mediaType, passes] of [
      // Four megapixels as AVIF take half a second.
      ...sized(
        [],
        [['f=auto', 'image/avif', 0] as const, ['f=auto&w=2100&enlarge', 'image/webp', 0] as const],
      ),
      ['f=auto&pad=10', 'image/webp', 0],
      ['f=auto&crop=0,0,1900,2100&w=300', 'image/avif', 0],
    ] as const) {
      settled = 0
      const outcome = await transformed(source, query, { format: 'jpeg', accept, engines })
      expect(outcome.mediaType, query).to.equal(mediaType)
      expect(settled, query).to.equal(passes)
    }
  })

  it('is AVIF of any size when the browser does not accept WebP, or the format is AVIF', async () => {
    const large = await picture({ width: 2500, height: 2000, format: 'jpeg' })
    for (const [query, header] of everyNth(2, [
      ['f=auto', 'image/avif'],
      ['f=avif', accept],
    ] as const)) {
      const { mediaType } = await transformed(large, query, { format: 'jpeg', accept: header })
      expect(mediaType, query).to.equal('image/avif')
    }
  })
})

describe('the configured quality', () => {
  it('is the default of each format', async () => {
    const { transforms } = await loadWith({}, { options: { 'image-format': { quality: { webp: 20 } } } })
    const source = await noise()
    const [configured, lower, usual] = await Promise.all([
      transformed(source, 'f=webp', { transforms }),
      transformed(source, 'f=webp&q=20'),
      transformed(source, 'f=webp'),
    ])
    expect(configured.bytes.equals(lower.bytes)).to.equal(true)
    expect(configured.bytes.equals(usual.bytes)).to.equal(false)
    const jpeg = await Promise.all(
      [{ transforms }, {}].map((options) => transformed(source, 'f=jpeg', options)),
    )
    expect(jpeg[0]?.bytes.equals(jpeg[1]?.bytes as Buffer)).to.equal(true)
  })
})
