import { expect } from 'chai'
import sharp from 'sharp'
import { colourAt } from '../../../support/media/images.ts'
import { transformed } from '../transform.ts'

type Colour = readonly [red: number, green: number, blue: number]

const GREEN: Colour = [0, 200, 0]
// What a green of sRGB is called in Display P3: less of a green, with some of the others in it.
const GREEN_IN_P3: Colour = [90, 197, 58]
// The greenest green of P3. No green of sRGB is as green; the nearest one has all of it.
const P3_ONLY: Colour = [0, 255, 0]

const swatch = ([r, g, b]: Colour) =>
  sharp({ create: { width: 16, height: 16, channels: 3, background: { r, g, b } } })

/** Of one colour of sRGB, written as P3 calls it, with the profile that says so. */
const p3 = (colour: Colour) => swatch(colour).withIccProfile('p3')

/** The numbers in the file, whatever they mean. */
async function numbers(bytes: Uint8Array): Promise<number[]> {
  const { data, info } = await sharp(bytes).keepIccProfile().raw().toBuffer({ resolveWithObject: true })
  return [...data.subarray(0, info.channels)].slice(0, 3)
}

async function seen(bytes: Uint8Array): Promise<number[]> {
  const { r, g, b } = await colourAt(bytes, 8, 8)
  return [r, g, b]
}

function expectNear(received: readonly number[], expected: Colour, within: number, about = ''): void {
  for (const [i, value] of expected.entries()) {
    expect(received[i], `${about} ${received} for ${expected}`).to.be.closeTo(value, within)
  }
}

/** The first bytes of a profile that tell its colour space: ICC.1, section 7.2. */
const spaceOf = (icc: Buffer | undefined) => icc?.toString('latin1', 16, 20)

describe('colour spaces', () => {
  for (const format of ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif'] as const) {
    it(`convert P3 to sRGB without a profile in ${format}`, async () => {
      const source = await p3(GREEN).png().toBuffer()
      expectNear(await numbers(source), GREEN_IN_P3, 2)
      const { bytes, metadata } = await transformed(source, `f=${format}&q=95`)
      expect(metadata.icc).to.equal(undefined)
      expectNear(await seen(bytes), GREEN, 6, format)
      expectNear(await numbers(bytes), GREEN, 6, format)
    })
  }

  it('map colours of P3 outside sRGB to the nearest ones', async () => {
    const { width, height, channels } = { width: 16, height: 16, channels: 3 } as const
    const profiled = await p3(GREEN).png().toBuffer()
    const raw = Buffer.from(Array.from({ length: width * height }, () => P3_ONLY).flat())
    const source = await sharp(raw, { raw: { width, height, channels } }).png().toBuffer()
    // The profile alone, without a change of the numbers: PNG holds it in a chunk of its own.
    const tagged = withChunk(source, chunkOf(profiled, 'iCCP'))
    expectNear(await numbers(tagged), P3_ONLY, 0)
    const { bytes } = await transformed(tagged, 'f=png')
    expectNear(await seen(bytes), [0, 255, 0], 8)
    const kept = await transformed(tagged, 'f=png&icc=keep')
    expectNear(await numbers(kept.bytes), P3_ONLY, 0)
    expect(kept.metadata.icc).to.not.equal(undefined)
  })

  for (const format of ['jpeg', 'tiff'] as const) {
    it(`convert a CMYK ${format} to sRGB in every format, also with icc=keep`, async () => {
      const red: Colour = [230, 40, 20]
      const source = await swatch(red).withIccProfile('cmyk').toFormat(format, { quality: 100 }).toBuffer()
      expect((await sharp(source).metadata()).space).to.equal('cmyk')
      for (const f of ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif']) {
        for (const icc of ['', '&icc=keep']) {
          const { bytes, metadata } = await transformed(source, `f=${f}&q=95${icc}`, { format })
          expect(metadata.icc, f).to.equal(undefined)
          expect(metadata.space, f).to.equal('srgb')
          expectNear(await seen(bytes), red, 16, `${f}${icc}`)
        }
      }
    })
  }

  for (const profile of ['srgb', 'p3'] as const) {
    it(`convert 16 bits with a profile of ${profile} to the same colours as 8 bits`, async () => {
      const deep = swatch(GREEN).toColourspace('rgb16').withIccProfile(profile)
      for (const [format, source] of [
        ['png', await deep.clone().png().toBuffer()],
        ['avif', await deep.clone().avif({ bitdepth: 12, quality: 100 }).toBuffer()],
      ] as const) {
        expect((await sharp(source).metadata()).depth).to.equal('ushort')
        for (const query of ['f=png', 'f=png&icc=keep', 'f=webp&lossless', 'f=jpeg&w=12&maxbytes=100000']) {
          const { bytes, metadata } = await transformed(source, query, { format })
          expect(metadata.depth, query).to.equal('uchar')
          expectNear(await seen(bytes), GREEN, 4, `${format} ${query}`)
          const kept = profile === 'p3' && query.includes('keep')
          expectNear(await numbers(bytes), kept ? GREEN_IN_P3 : GREEN, 4, `${format} ${query}`)
        }
      }
    })
  }

  describe('with icc=keep', () => {
    for (const format of ['jpeg', 'png', 'webp', 'avif', 'tiff'] as const) {
      it(`keep pixel values and profile together in ${format}, also through a second pass`, async () => {
        const source = await p3(GREEN).png().toBuffer()
        const profile = (await sharp(source).metadata()).icc
        for (const query of ['', '&w=8', '&w=8&maxbytes=100000']) {
          const { bytes, metadata } = await transformed(source, `f=${format}&q=95&icc=keep${query}`)
          expect(metadata.icc?.equals(profile as Buffer), `${format}${query}`).to.equal(true)
          expectNear(await numbers(bytes), GREEN_IN_P3, 6, `${format}${query}`)
        }
      })
    }

    it('keep pixel values and profile together through every change of geometry', async () => {
      const source = await p3(GREEN).png().toBuffer()
      const changes = ['pad=4', 'radius=20', 'rotate=90', 'rotate=30', 'flip', 'flop', 'w=9&h=9&fit=contain']
      for (const query of [...changes, 'crop=2,2,12,12', 'trim', 'blur=1', 'zoom=2', 'w=40&enlarge']) {
        for (const [then, profiled] of [
          ['icc=keep', true],
          ['icc=srgb', false],
        ] as const) {
          const { bytes, metadata } = await transformed(source, `${query}&f=webp&lossless&${then}`)
          expect(metadata.icc !== undefined, `${query} ${then}`).to.equal(profiled)
          const { width, height } = metadata
          const middle = await sharp(bytes)
            .keepIccProfile()
            .extract({ left: width >> 1, top: height >> 1, width: 1, height: 1 })
            .png()
            .toBuffer()
          expectNear(await numbers(middle), profiled ? GREEN_IN_P3 : GREEN, 3, `${query} ${then}`)
        }
      }
    })

    it('keep pixel values and profile together when the format depends on the size', async () => {
      const source = await p3(GREEN).png().toBuffer()
      const accept = 'image/avif,image/webp'
      const { bytes, metadata, mediaType } = await transformed(source, 'f=auto&q=95&icc=keep', { accept })
      expect(mediaType).to.equal('image/avif')
      expect(spaceOf(metadata.icc)).to.equal('RGB ')
      expectNear(await numbers(bytes), GREEN_IN_P3, 6)
    })

    it('keep them in an animation, also through a second pass', async () => {
      const frames = await Promise.all(
        [GREEN, [200, 0, 0] as Colour].map((each) => swatch(each).png().toBuffer()),
      )
      const source = await sharp(frames, { join: { animated: true } })
        .withIccProfile('p3')
        .webp({ lossless: true })
        .toBuffer()
      const before = await numbers(source)
      for (const query of ['icc=keep&lossless', 'icc=keep&q=95&maxbytes=100000']) {
        const { bytes, metadata } = await transformed(source, query, { format: 'webp' })
        expect(metadata.pages, query).to.equal(2)
        expect(spaceOf(metadata.icc), query).to.equal('RGB ')
        expectNear(await numbers(bytes), before as unknown as Colour, 6, query)
      }
    })

    it('remove all other metadata', async () => {
      const source = await p3(GREEN)
        .withExif({
          IFD0: { Copyright: 'somebody' },
          IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' },
        })
        .jpeg()
        .toBuffer()
      expect((await sharp(source).metadata()).exif).to.not.equal(undefined)
      for (const query of ['icc=keep', 'f=webp&icc=keep', 'q=80', 'f=avif']) {
        const { metadata } = await transformed(source, query, { format: 'jpeg' })
        expect([metadata.exif, metadata.xmp, metadata.iptc], query).to.deep.equal([
          undefined,
          undefined,
          undefined,
        ])
      }
    })

    it('are sRGB without a profile where the source has no profile', async () => {
      const { metadata, bytes } = await transformed(
        await swatch(GREEN).png().toBuffer(),
        'f=webp&lossless&icc=keep',
      )
      expect(metadata.icc).to.equal(undefined)
      expectNear(await seen(bytes), GREEN, 0)
    })
  })
})

/** A chunk of a PNG with its length, name and checksum. */
function chunkOf(png: Buffer, name: string): Buffer {
  const at = png.indexOf(name) - 4
  return png.subarray(at, at + 12 + png.readUInt32BE(at))
}

/** A PNG with one more chunk behind its header, which is 33 bytes. */
function withChunk(png: Buffer, chunk: Buffer): Buffer {
  return Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)])
}
