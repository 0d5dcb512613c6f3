import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect } from 'chai'
import sharp from 'sharp'
import type { Asset } from '../../../src/core/bytes/asset.ts'
import { fileNotFound, Problem } from '../../../src/core/problem.ts'
import { sharpEngine } from '../../support/media/engines.ts'
import { animation, picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { assetOf, context, transform, transformed } from './transform.ts'

/** The CRC of a PNG's chunk. */
function crc32(bytes: Uint8Array): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const bytes = Buffer.alloc(body.length + 8)
  bytes.writeUInt32BE(data.length, 0)
  body.copy(bytes, 4)
  bytes.writeUInt32BE(crc32(body), body.length + 4)
  return bytes
}

/** A PNG that says it has this size, in grey, and holds next to nothing. */
function boastingPng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(10))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** The 422 that a transformation ends in. */
async function refusal(promise: Promise<unknown>): Promise<Problem> {
  const error = await rejection(promise)
  expect(error).to.be.instanceOf(Problem).that.includes({ status: 422, code: 'not_transformable' })
  return error as Problem
}

const TOO_MANY = (limit: number, pixels: number) =>
  `expected at most ${limit} pixels over all frames to transform but this image has ${pixels}`

describe('the sharp engine', () => {
  it('supports images', () => {
    expect(sharpEngine.media).to.deep.equal(['image'])
  })

  describe('the header of a source', () => {
    const counted = (bytes: Buffer, more: Partial<Asset> = {}) => {
      const asset = assetOf(bytes, 'png')
      const opened: unknown[] = []
      const open: Asset['open'] = (options) => {
        opened.push(options?.range)
        return asset.open(options)
      }
      return { asset: { ...asset, open, ...more }, opened }
    }

    it('is read once for all files with the same bytes', async () => {
      const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
      const create = { width: 900, height: 700, channels: 3, background: '#888', noise } as const
      const bytes = await sharp({ create }).png().toBuffer()
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      const [first, second] = [counted(bytes, { sha256 }), counted(bytes, { sha256 })]
      await sharpEngine.forecast(first.asset, [], context())
      await sharpEngine.forecast(second.asset, [], context())
      expect(first.opened).to.deep.equal([{ start: 0, end: 122_879 }])
      expect(second.opened).to.deep.equal([])
      const { source } = await sharpEngine.open(second.asset, {}, context())
      expect(source).to.include({ width: 900, height: 700, format: 'png' })
      expect(second.opened, 'whether it is animated, and all of it').to.deep.equal([
        { start: 0, end: 4095 },
        undefined,
      ])
    })

    it('is read again for a file whose digest is unknown', async () => {
      const bytes = await picture()
      const [first, second] = [counted(bytes), counted(bytes)]
      for (const { asset } of [first, second]) await sharpEngine.forecast(asset, [], context())
      expect([first.opened.length, second.opened.length]).to.deep.equal([1, 1])
    })
  })

  describe('a JPEG in a local file', () => {
    let folder: string
    before(async () => {
      folder = await temporaryFolder()
    })
    after(() => rm(folder, { recursive: true }))

    const inFile = async (name: string, bytes: Buffer): Promise<Asset> => {
      const file = join(folder, name)
      await writeFile(file, bytes)
      const { open, ...asset } = assetOf(bytes, 'jpeg')
      return {
        ...asset,
        file,
        // Only its start may be read into memory.
        async open(options) {
          if (!options?.range || !existsSync(file)) throw fileNotFound()
          return open(options)
        },
      }
    }

    it('is read by libvips itself, except for its header', async () => {
      const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
      const create = { width: 900, height: 600, channels: 3, background: '#888', noise } as const
      const bytes = await sharp({ create }).jpeg({ quality: 100 }).toBuffer()
      expect(bytes.length).to.be.above(200_000)
      const asset = await inFile('photo.jpg', bytes)
      await sharpEngine.forecast(asset, [], context())
      const { metadata } = await transform({ query: 'w=30', source: asset })
      expect(metadata).to.include({ format: 'jpeg', width: 30, height: 20 })
    })

    it('responds 404 when it is deleted before it is read, and is not counted as broken', async () => {
      const asset = await inFile('gone.jpg', await picture({ format: 'jpeg' }))
      const { draft } = await sharpEngine.open(asset, {}, context())
      await rm(asset.file ?? '')
      expect(await rejection(sharpEngine.render(draft, context()))).to.be.an('error')
      expect(await rejection(sharpEngine.verify(asset, {}, context()))).to.include({ status: 404 })
      expect(await rejection(sharpEngine.forecast(asset, [], context()))).to.include({ status: 404 })
    })
  })

  describe('opening a source', () => {
    for (const format of ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif'] as const) {
      it(`gives plugins the sides, pages and format of an image in ${format}`, async () => {
        const bytes = await sharp({ create: { width: 30, height: 20, channels: 3, background: '#f00' } })
          .toFormat(format)
          .toBuffer()
        const { source } = await sharpEngine.open(assetOf(bytes, format), {}, context())
        expect(source).to.include({ width: 30, height: 20, pages: 1, format })
      })
    }

    it('gives plugins the sides of one frame of an animation, and the number of selected frames', async () => {
      const asset = assetOf(await animation({ width: 40, height: 30 }), 'gif')
      for (const [frames, pages] of [
        ['all', 3],
        ['first', 1],
      ] as const) {
        const { source } = await sharpEngine.open(asset, { frames }, context())
        expect(source).to.include({ width: 40, height: 30, pages, format: 'gif' })
      }
    })

    it('gives plugins the upright sides of a rotated photo', async () => {
      const photo = await picture({ width: 40, height: 30, format: 'jpeg', orientation: 6 })
      for (const [upright, width, height] of [
        [true, 30, 40],
        [false, 40, 30],
      ] as const) {
        const { source } = await sharpEngine.open(assetOf(photo, 'jpeg'), { upright }, context())
        expect(source).to.deep.equal({
          width,
          height,
          pages: 1,
          hasAlpha: false,
          format: 'jpeg',
          dpr: 1,
          reduction: 1,
          file: { bytes: photo.length, width: 30, height: 40, quality: 80 },
        })
      }
    })

    it('gives plugins the transparency', async () => {
      const { source } = await sharpEngine.open(assetOf(await picture(), 'png'), {}, context())
      expect(source.hasAlpha).to.equal(true)
    })
  })

  describe('limits', () => {
    it('refuses a file of more than 40 MB before it reads it', async () => {
      const png = assetOf(await picture({ width: 8, height: 8 }), 'png')
      let opened = 0
      const source = {
        ...png,
        size: 40_000_001,
        open: () => {
          opened += 1
          return png.open()
        },
      }
      expect((await refusal(transform({ query: 'w=5', source }))).message).to.equal(
        'expected a file of at most 40000000 bytes to transform but this one has 40000001',
      )
      expect(opened).to.equal(0)
    })

    it('refuses one byte more than the limit, but not the limit', async () => {
      const png = await picture({ width: 8, height: 8 })
      const limited = (sourceMaxBytes: number) => transformed(png, 'w=5', { limits: { sourceMaxBytes } })
      await refusal(limited(png.length - 1))
      expect((await limited(png.length)).metadata.width).to.equal(5)
    })

    it('refuses 900 megapixels in a small file, by its header alone', async () => {
      const bomb = boastingPng(30_000, 30_000)
      expect(bomb.length).to.be.below(200)
      const { message } = await refusal(transformed(bomb, 'w=10'))
      expect(message).to.equal(TOO_MANY(50_000_000, 900_000_000))
    })

    it('refuses slightly more than 50 megapixels, but not 50', async () => {
      const { message } = await refusal(transformed(boastingPng(10_000, 5001), 'w=10'))
      expect(message).to.equal(TOO_MANY(50_000_000, 50_010_000))
      // Within the limit the header is believed, and what follows it is broken.
      expect((await refusal(transformed(boastingPng(10_000, 5000), 'w=10'))).message).to.match(
        /can be decoded/,
      )
    })

    it('counts the pixels of all frames when all frames are selected', async () => {
      const moving = await animation({ width: 40, height: 30 })
      const limited = (query: string, sourceMaxPixels: number) =>
        transformed(moving, query, { format: 'gif', limits: { sourceMaxPixels } })
      expect((await refusal(limited('w=10', 3599))).message).to.equal(TOO_MANY(3599, 3600))
      expect((await limited('w=10', 3600)).metadata.pages).to.equal(3)
      expect((await refusal(limited('w=10&f=png', 1199))).message).to.equal(TOO_MANY(1199, 1200))
      expect((await limited('w=10&f=png', 1200)).metadata.width).to.equal(10)
    })

    it('refuses an interlaced image of 16 bits per channel that needs more memory than its pixels may', async () => {
      const image = () => sharp({ create: { width: 40, height: 30, channels: 4, background: '#f00' } })
      const deep = () => image().toColourspace('rgb16')
      const limits = { sourceMaxPixels: 1200 }
      const { message } = await refusal(
        transformed(await deep().png({ progressive: true }).toBuffer(), 'w=10', { limits }),
      )
      expect(message).to.equal(
        'expected at most 4800 bytes of pixels of an interlaced or rotated image to transform but this one has 9600',
      )
      for (const fine of [deep().png(), image().png({ progressive: true })]) {
        const { metadata } = await transformed(await fine.toBuffer(), 'w=10', { limits })
        expect(metadata.width).to.equal(10)
      }
    })

    it('refuses an image of 16 bits per channel that is rotated above the same limit', async () => {
      const deep = (orientation: number) =>
        sharp({ create: { width: 40, height: 30, channels: 4, background: '#f00' } })
          .toColourspace('rgb16')
          .withMetadata({ orientation })
          .tiff({ compression: 'lzw' })
          .toBuffer()
      const options = { format: 'tiff', limits: { sourceMaxPixels: 1200 } }
      expect((await refusal(transformed(await deep(6), 'w=10', options))).message).to.include('has 9600')
      expect((await transformed(await deep(1), 'w=10', options)).metadata.width).to.equal(10)
    })

    it('refuses an SVG by the size that it declares, unless another one is requested', async () => {
      const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="20000" height="20000"/>')
      expect((await refusal(transformed(svg, 'f=png', { format: 'svg' }))).message).to.match(
        /pixels over all frames/,
      )
      expect((await transformed(svg, 'w=10', { format: 'svg' })).metadata.width).to.equal(10)
    })

    for (const [what, format, make] of [
      ['a truncated JPEG', 'jpeg', async () => (await picture({ format: 'jpeg' })).subarray(0, 1200)],
      [
        'a JPEG that ends within its header',
        'jpeg',
        async () => (await picture({ format: 'jpeg' })).subarray(0, 100),
      ],
      ['a truncated PNG', 'png', async () => (await picture()).subarray(0, -60)],
      ['a truncated WebP', 'webp', async () => (await picture({ format: 'webp' })).subarray(0, -60)],
      ['a GIF that ends within its header', 'gif', async () => (await animation()).subarray(0, 12)],
      ['text that is called a PNG', 'png', async () => Buffer.from('these are words, not pixels')],
      ['HTML that is called a JPEG', 'jpeg', async () => Buffer.from('<html><body>hello')],
      ['an empty file', 'png', async () => Buffer.alloc(0)],
      ['zeros', 'png', async () => Buffer.alloc(1000)],
      [
        'an SVG that never ends',
        'svg',
        async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><g>'),
      ],
    ] as const) {
      it(`refuses ${what}, without internal details`, async () => {
        for (const query of ['w=10', 'f=webp']) {
          const problem = await refusal(transformed(await make(), query, { format }))
          expect(problem.message).to.equal('expected an image that can be decoded but this one cannot')
          expect(problem.cause).to.be.instanceOf(Error)
        }
      })
    }

    it('refuses an image that takes too long', async () => {
      // A second is the shortest timeout of libvips.
      const slow = sharp({ create: { width: 9000, height: 9000, channels: 3, background: '#f00' } })
        .blur(20)
        .png()
      const { message } = await refusal(
        sharpEngine.render(slow, context({ limits: { ...context().limits, timeoutMs: 400 } })),
      )
      expect(message).to.equal('This image takes too long to transform.')
    })
  })

  it('keeps the frames of a GIF that is truncated after them', async () => {
    const moving = await animation({ width: 40, height: 30 })
    const { metadata } = await transformed(moving.subarray(0, -1), 'w=20', { format: 'gif' })
    expect(metadata).to.include({ pages: 3, width: 20 })
  })

  it('passes on a Problem unchanged', async () => {
    const problem = new Problem({ status: 503, code: 'unavailable', detail: 'the bucket is away' })
    const source = { ...assetOf(Buffer.alloc(10), 'png'), open: () => Promise.reject(problem) }
    expect(await rejection(transform({ query: 'w=5', source }))).to.equal(problem)
  })

  it('does not read the source when the signal is aborted', async () => {
    const reason = new Error('left')
    const asset = assetOf(await picture(), 'png')
    const opening = sharpEngine.open(asset, {}, context({ signal: AbortSignal.abort(reason) }))
    expect(await rejection(opening)).to.equal(reason)
  })

  it('does not render when the signal is aborted', async () => {
    const reason = new Error('left')
    const source = assetOf(await picture(), 'png')
    expect(await rejection(transform({ query: 'w=5', source, signal: AbortSignal.abort(reason) }))).to.equal(
      reason,
    )
  })
})
