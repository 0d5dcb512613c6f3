import { expect } from 'chai'
import sharp from 'sharp'
import { Problem } from '../../../../src/core/problem.ts'
import { animation, colourAt } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { loadWith } from '../../load/drop-ins.ts'
import { transformed } from '../transform.ts'

/** Black and white columns, each one pixel wide: any mean of several pixels is grey. */
async function stripes(width: number, height: number): Promise<Buffer> {
  const data = Buffer.alloc(width * height * 3)
  for (let i = 0; i < width * height; i += 1) data.fill((i % width) % 2 === 0 ? 0 : 255, 3 * i, 3 * i + 3)
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer()
}

async function noise(side: number): Promise<Buffer> {
  const gaussian = { type: 'gaussian', mean: 128, sigma: 80 } as const
  return sharp({ create: { width: side, height: side, channels: 3, background: '#888', noise: gaussian } })
    .png()
    .toBuffer()
}

/** The share of pixels that are still black or white, in a part. */
async function sharpShare(bytes: Buffer, box: { left: number; top: number; width: number; height: number }) {
  const data = await sharp(bytes).removeAlpha().greyscale().extract(box).raw().toBuffer()
  return data.filter((value) => value < 30 || value > 225).length / data.length
}

describe('image-conceal', () => {
  for (const param of ['blur_region', 'pixelate_region']) {
    it(`${param} conceals regions, and nothing else`, async () => {
      const { bytes, metadata } = await transformed(
        await stripes(200, 100),
        `${param}=0.1,0.2,0.3,0.4;0.75,0.5,0.25,0.5`,
      )
      expect(metadata).to.include({ width: 200, height: 100, hasAlpha: false })
      expect(await sharpShare(bytes, { left: 20, top: 20, width: 60, height: 40 })).to.be.below(0.05)
      expect(await sharpShare(bytes, { left: 150, top: 50, width: 50, height: 50 })).to.be.below(0.05)
      for (const box of [
        { left: 0, top: 0, width: 200, height: 19 },
        { left: 0, top: 20, width: 19, height: 80 },
        { left: 82, top: 20, width: 66, height: 80 },
        { left: 150, top: 0, width: 50, height: 49 },
      ])
        expect(await sharpShare(bytes, box), JSON.stringify(box)).to.equal(1)
    })
  }

  it('leaves at most 8 squares along the shorter side of a region', async () => {
    const { bytes } = await transformed(await noise(256), 'pixelate_region=0,0,1,1')
    const row = [...(await sharp(bytes).removeAlpha().greyscale().raw().toBuffer()).subarray(0, 256)]
    const changes = row.filter((value, i) => i > 0 && value !== row[i - 1]).length
    expect(changes).to.be.within(1, 7)
  })

  it('moves with the content: regions are fractions of the upright original', async () => {
    const turned = await sharp(await stripes(200, 100))
      .withMetadata({ orientation: 6 })
      .jpeg({ quality: 95 })
      .toBuffer()
    // Upright it is 100 x 200. The upper half is concealed, and then cut off.
    const lower = await transformed(turned, 'pixelate_region=0,0,1,0.5&crop=0,100,100,100', {
      format: 'jpeg',
    })
    expect(await sharpShare(lower.bytes, { left: 0, top: 4, width: 100, height: 92 })).to.be.above(0.9)
    const upper = await transformed(turned, 'pixelate_region=0,0,1,0.5&crop=0,0,100,100', { format: 'jpeg' })
    expect(await sharpShare(upper.bytes, { left: 0, top: 0, width: 100, height: 100 })).to.be.below(0.05)
  })

  it('conceals every frame of an animation', async () => {
    const moving = await animation({ width: 40, height: 30 })
    const { bytes, metadata } = await transformed(moving, 'pixelate_region=0,0,1,1&f=webp&lossless', {
      format: 'gif',
    })
    expect(metadata.pages).to.equal(3)
    for (const page of [0, 1, 2]) {
      const before = await sharp(moving, { page }).removeAlpha().stats()
      const after = await sharp(bytes, { page }).removeAlpha().stats()
      for (const i of [0, 1, 2])
        expect(after.channels[i]?.mean).to.be.closeTo(before.channels[i]?.mean ?? 0, 12)
    }
  })

  it('shows nothing of a region through transparency', async () => {
    const half = await sharp({
      create: { width: 64, height: 64, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0.5 } },
    })
      .png()
      .toBuffer()
    const { bytes } = await transformed(half, 'blur_region=0,0,1,1')
    expect((await colourAt(bytes, 30, 30)).a).to.be.closeTo(128, 2)
  })

  it('conceals the boxes of the detector, larger by a fifth', async () => {
    const { detector } = await loadWith({
      'faces.js': `export default { name: 'faces', engine: 'sharp', detect: () => [{ left: 100, top: 40, width: 20, height: 20 }] }`,
    })
    const { bytes } = await transformed(await stripes(200, 100), 'pixelate_faces&blur_faces', {
      ...(detector ? { detector } : {}),
    })
    expect(await sharpShare(bytes, { left: 96, top: 36, width: 28, height: 28 })).to.be.below(0.05)
    expect(await sharpShare(bytes, { left: 0, top: 0, width: 95, height: 100 })).to.equal(1)
  })

  it('refuses to deliver visible faces when there is no detector', async () => {
    for (const query of ['blur_faces', 'pixelate_faces', 'blur_faces&w=100']) {
      const error = await rejection(transformed(await stripes(20, 20), query))
      expect(error, query).to.be.instanceOf(Problem).that.includes({ status: 501, code: 'not_installed' })
    }
  })

  for (const value of [
    '',
    '0,0,1',
    '0,0,1,1;',
    '0,0,1,1.1',
    '-0.1,0,1,1',
    '0,0,0,1',
    Array(21).fill('0,0,1,1').join(';'),
  ]) {
    it(`refuses ${JSON.stringify(value.slice(0, 20))}`, async () => {
      const error = await rejection(transformed(await stripes(20, 20), `blur_region=${value}`))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 400 })
      expect(error)
        .to.have.property('message')
        .that.includes('1 to 20 groups, separated by ";", of 4 numbers x,y,w,h')
    })
  }
})

describe('image-pixelate', () => {
  it('replaces the image by squares of one colour', async () => {
    const { bytes } = await transformed(await stripes(100, 60), 'pixelate=20')
    const { data } = await sharp(bytes).removeAlpha().greyscale().raw().toBuffer({ resolveWithObject: true })
    for (const [x, y] of [
      [1, 1],
      [19, 19],
      [21, 21],
      [99, 59],
    ] as const)
      expect(data[y * 100 + x], `${x}, ${y}`).to.be.closeTo(128, 10)
    expect((await sharp(bytes).metadata()).width).to.equal(100)
  })

  it('counts in pixels of the URL', async () => {
    const source = await noise(200)
    const colours = async (query: string) => {
      const { bytes } = await transformed(source, query)
      const data = await sharp(bytes).removeAlpha().greyscale().raw().toBuffer()
      return new Set(data).size
    }
    expect(await colours('w=100&pixelate=50')).to.be.at.most(4)
    expect(await colours('w=50&dpr=2&pixelate=25')).to.be.at.most(4)
  })
})
