import { expect } from 'chai'
import sharp from 'sharp'
import type { OpenOptions } from '../../../../src/core/bytes/asset.ts'
import { readAll } from '../../../../src/core/bytes/asset.ts'
import { formatOfMediaType } from '../../../../src/core/media/formats.ts'
import type { Forecast } from '../../../../src/core/plugin-api/forecast.ts'
import type { TransformLimits } from '../../../../src/core/plugin-api/limits.ts'
import { Problem } from '../../../../src/core/problem.ts'
import { stripDecompressionBombs } from '../../../../src/engines/image/decompression-bombs.ts'
import { createPlanner } from '../../../../src/pipeline/plan/plan.ts'
import { sharpEngine } from '../../../support/media/engines.ts'
import { animation, picture } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { boastingPng, manyFrames, textBomb } from '../../../support/requests/attacks.ts'
import { itLong } from '../../../support/sized.ts'
import { dropIn, loadWith } from '../../load/drop-ins.ts'
import { assetOf, context, LIMITS } from '../transform.ts'

/** What is foreseen of a query, and how the source was read. */
async function forecast(
  bytes: Uint8Array,
  format: string,
  query: string,
  {
    limits = {},
    files = {},
  }: { limits?: Partial<TransformLimits>; files?: Readonly<Record<string, string>> } = {},
) {
  const reads: Array<OpenOptions['range']> = []
  const plain = assetOf(bytes, format)
  const source = {
    ...plain,
    open: (options: OpenOptions = {}) => {
      reads.push(options.range)
      return plain.open(options)
    },
  }
  const { transforms } = await loadWith(files)
  const plan = createPlanner(
    transforms,
    [],
  )({
    query: new URLSearchParams(query),
    format: formatOfMediaType(source.mediaType),
    preferences: {},
  })
  const given = context({ limits: { ...LIMITS, ...limits } })
  const foreseen: Forecast = await sharpEngine.forecast(source, plan.steps, given)
  return { ...foreseen, reads, given: source, megabytes: (foreseen.bytes - source.size) / 1e6 }
}

/** Noise, which is as large encoded as it comes. */
const noise = (width: number, height: number) =>
  sharp({
    create: {
      width,
      height,
      channels: 3,
      background: '#888',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })

describe('the cost forecast of an image', () => {
  it('reads a small file once, and returns it', async () => {
    const bytes = await picture()
    const { reads, source, given } = await forecast(bytes, 'png', 'w=10')
    expect(reads).to.deep.equal([undefined])
    expect((await readAll(source)).equals(bytes)).to.equal(true)
    expect(source).to.include({
      size: given.size,
      mediaType: given.mediaType,
      lastModified: given.lastModified,
    })
    expect(reads, 'from memory').to.have.length(1)
  })

  it('reads only the first 120 KB of a large file', async () => {
    for (const [format, bytes] of [
      ['jpeg', await noise(1000, 1000).jpeg({ quality: 100 }).toBuffer()],
      ['png', await noise(1000, 1000).png().toBuffer()],
    ] as const) {
      const { reads, source, given } = await forecast(bytes, format, 'w=10')
      expect(reads, format).to.deep.equal([{ start: 0, end: 122_879 }])
      expect(source).to.equal(given)
    }
  })

  itLong('reads all of a file with a longer header, or one that may be an animation', async () => {
    const long = await sharp(await picture())
      .withXmp(`<x>${'y'.repeat(60_000)}</x>`)
      .jpeg()
      .toBuffer()
    const segment = Buffer.concat([Buffer.from([0xff, 0xec, 0xff, 0xff]), Buffer.alloc(65_533)])
    const padded = Buffer.concat([long.subarray(0, 2), segment, segment, segment, long.subarray(2)])
    expect((await forecast(padded, 'jpeg', 'w=10')).reads).to.deep.equal([
      { start: 0, end: 122_879 },
      undefined,
    ])
    const webp = await noise(1000, 1000).webp({ quality: 100 }).toBuffer()
    expect((await forecast(webp, 'webp', 'w=10')).reads).to.deep.equal([undefined])
  })

  it('adds the memory of a plugin, which never runs in the web process', async () => {
    const files = { 'model.js': dropIn('model', { memoryBytes: '50_000_000' }) }
    const bytes = await picture()
    const without = await forecast(bytes, 'png', 'w=10', { files })
    const withModel = await forecast(bytes, 'png', 'w=10&model', { files })
    expect(withModel.bytes - without.bytes).to.equal(50_000_000)
    expect([without.mayHang, withModel.mayHang]).to.deep.equal([false, true])
  })

  it('reads nothing of an SVG or a TIFF, whose header can cost as much as all of it', async () => {
    for (const format of ['svg', 'tiff'] as const)
      expect(await forecast(Buffer.from('no picture'), format, 'w=10')).to.deep.include({
        reads: [],
        mayHang: true,
      })
  })

  for (const [format, query, mayHang] of [
    ['png', 'f=avif', false],
    ['avif', 'f=webp', true],
    ['avif', 'w=10', true],
    ['png', 'f=webp', false],
    ['jpeg', 'w=10', false],
  ] as const) {
    it(`states that ${format} with ${query} ${mayHang ? 'may' : 'does not'} hang`, async () => {
      expect(await forecast(await picture({ format }), format, query)).to.include({ mayHang })
    })
  }

  it('counts the drawn pixels, the source pixels in memory, and the output format', async () => {
    const create = { width: 4000, height: 3000, channels: 3, background: '#f00' } as const
    const plain = await sharp({ create }).jpeg().toBuffer()
    const progressive = await sharp({ create }).jpeg({ progressive: true }).toBuffer()
    const turned = await sharp({ create }).withMetadata({ orientation: 6 }).jpeg().toBuffer()
    const of = async (bytes: Buffer, query: string) =>
      Math.round((await forecast(bytes, 'jpeg', query)).megabytes)
    // 12 MP; measured in addition to the file and the process: 83, 173, 45, 1, 36, 3 MB and more. The pixels of a PNG are looked at.
    expect(await of(plain, 'q=70')).to.equal(84)
    expect(await of(plain, 'f=webp')).to.equal(168)
    expect(await of(plain, 'f=png')).to.equal(96)
    expect(await of(plain, 'w=400&f=webp')).to.equal(2)
    expect(await of(progressive, 'w=400&f=webp')).to.equal(74)
    expect(await of(turned, 'w=400&f=webp')).to.equal(51)
    expect(await of(plain, 'w=400&h=300&dpr=2&f=webp')).to.equal(7)
    expect(await of(plain, 'w=5000&f=webp'), 'nothing is enlarged').to.equal(168)
  })

  it('counts all frames when all are written', async () => {
    const moving = await animation({ width: 400, height: 300 })
    const one = (await forecast(moving, 'gif', 'f=png')).megabytes
    expect((await forecast(moving, 'gif', 'f=webp')).megabytes).to.be.closeTo(3 * 0.12 * 18, 0.01)
    expect(one).to.be.closeTo(0.12 * 12, 0.01)
  })

  it('refuses by size and header alone', async () => {
    const refusal = async (...args: Parameters<typeof forecast>) => {
      const error = await rejection(forecast(...args))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 422 })
      return (error as Problem).message
    }
    expect(await refusal(boastingPng(30_000, 30_000), 'png', 'w=10')).to.match(/50000000 pixels.*900000000/)
    expect(await refusal(Buffer.alloc(100), 'png', 'w=10', { limits: { sourceMaxBytes: 99 } })).to.match(
      /99 bytes.*has 100/,
    )
    expect(await refusal(Buffer.alloc(200_000), 'png', 'w=10')).to.match(/can be decoded/)
    const frames = (count: number) => manyFrames({ width: 2, height: 2, frames: count })
    expect(await refusal(frames(5001), 'gif', 'w=1')).to.match(/at most 5000 frames/)
    expect(await forecast(frames(5000), 'gif', 'w=1')).to.include({ mayHang: false })
  })
})

describe('an image after stripDecompressionBombs', () => {
  it('is unchanged when it contains nothing to remove', async () => {
    const png = await picture()
    const commented = await sharp(png)
      .withXmp(`<x>${'y'.repeat(9000)}</x>`)
      .png()
      .toBuffer()
    for (const bytes of [
      png,
      commented,
      await animation(),
      await animation({ format: 'webp' }),
      Buffer.alloc(0),
    ])
      expect(stripDecompressionBombs(bytes)).to.equal(bytes)
  })

  for (const type of ['zTXt', 'iTXt'] as const) {
    it(`has no ${type} chunks when they are many, and is the same image`, async () => {
      const bomb = textBomb(19, type)
      const bytes = stripDecompressionBombs(bomb)
      expect(bytes.length).to.be.below(300)
      expect(bytes.includes(type)).to.equal(false)
      expect(await sharp(bytes).metadata()).to.include({ width: 8, height: 8 })
    })
  }

  it('is refused as a WebP of more than 5000 frames, of odd and of even lengths', () => {
    const many = (count: number, length: number) => {
      const frame = Buffer.alloc(8 + length + (length % 2))
      frame.write('ANMF')
      frame.writeUInt32LE(length, 4)
      return Buffer.concat([Buffer.from('RIFF....WEBP'), ...Array(count).fill(frame)])
    }
    for (const length of [16, 17]) {
      expect(stripDecompressionBombs(many(5000, length))).to.have.length.above(5000)
      expect(() => stripDecompressionBombs(many(5001, length)), String(length)).to.throw(
        Problem,
        'at most 5000 frames',
      )
    }
  })
})
