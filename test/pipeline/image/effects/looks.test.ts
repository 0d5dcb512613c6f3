import { expect } from 'chai'
import sharp from 'sharp'
import { Problem } from '../../../../src/core/problem.ts'
import { animation, colourAt } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { assetOf, transformed } from '../transform.ts'

const plain = (background: string, { width = 60, height = 40 } = {}) =>
  sharp({ create: { width, height, channels: background.length > 7 ? 4 : 3, background } })
    .png()
    .toBuffer()

async function at(bytes: Buffer, x: number, y: number): Promise<number[]> {
  return Object.values(await colourAt(bytes, x, y))
}

function expectNear(actual: readonly number[], expected: readonly number[], about: string): void {
  for (const [i, value] of expected.entries())
    expect(actual[i], `${about}: ${actual} for ${expected}`).to.be.closeTo(value, 4)
}

describe('image-duotone', () => {
  for (const [source, query, expected] of [
    ['#000000', 'duotone_dark=102030&duotone_light=f0e0d0', [0x10, 0x20, 0x30]],
    ['#ffffff', 'duotone_dark=102030&duotone_light=f0e0d0', [0xf0, 0xe0, 0xd0]],
    ['#808080', 'duotone_dark=000&duotone_light=00f', [0, 0, 128]],
    ['#00ff00', 'duotone_dark=000&duotone_light=fff', [182, 182, 182]],
    ['#808080', 'duotone_dark=fff&duotone_light=000', [127, 127, 127]],
    ['#ffffff', 'duotone_dark=red', [255, 255, 255]],
    ['#000000', 'duotone_light=gold', [0, 0, 0]],
  ] as const) {
    it(`turns ${source} into ${expected} for ${query}`, async () => {
      expectNear(await at((await transformed(await plain(source), query)).bytes, 5, 5), expected, query)
    })
  }

  it('leaves transparency, grey images and animations as they are', async () => {
    const { bytes } = await transformed(await plain('#80808080'), 'duotone_light=00f')
    expectNear(await at(bytes, 5, 5), [0, 0, 128, 128], 'transparent')
    const grey = await sharp(await plain('#ffffff'))
      .greyscale()
      .toColourspace('b-w')
      .png()
      .toBuffer()
    expectNear(await at((await transformed(grey, 'duotone_light=0f0')).bytes, 5, 5), [0, 255, 0], 'grey')
    const moving = await transformed(await animation({ width: 30, height: 20 }), 'duotone_light=0f0', {
      format: 'gif',
    })
    expect(moving.metadata.pages).to.equal(3)
  })
})

describe('image-vignette', () => {
  it('darkens the corners, and not the middle', async () => {
    const white = await plain('#ffffff', { width: 200, height: 100 })
    const { bytes, metadata } = await transformed(white, 'vignette=80')
    expect(metadata.hasAlpha).to.equal(false)
    expectNear(await at(bytes, 100, 50), [255, 255, 255], 'middle')
    for (const [x, y] of [
      [0, 0],
      [199, 0],
      [0, 99],
      [199, 99],
    ] as const)
      expectNear(await at(bytes, x, y), [51, 51, 51], `${x}, ${y}`)
    const [edge = 0] = await at(bytes, 0, 50)
    expect(edge).to.be.within(180, 250)
    expectNear(await at((await transformed(white, 'vignette')).bytes, 0, 0), [128, 128, 128], 'bare')
  })

  it('leaves transparent parts transparent', async () => {
    const { bytes } = await transformed(await plain('#ff000000'), 'vignette=100')
    expect((await colourAt(bytes, 0, 0)).a).to.equal(0)
  })
})

describe('image-gradient', () => {
  it('covers half of the image from the requested side', async () => {
    const white = await plain('#ffffff', { width: 100, height: 100 })
    const { bytes } = await transformed(white, 'gradient=000')
    expectNear(await at(bytes, 50, 99), [2, 2, 2], 'the side')
    expectNear(await at(bytes, 50, 75), [128, 128, 128], 'half way')
    expectNear(await at(bytes, 50, 40), [255, 255, 255], 'beyond')
    const west = await transformed(white, 'gradient=ff000080&gradient_pos=left&gradient_size=100')
    expectNear(await at(west.bytes, 0, 50), [255, 128, 128], 'half transparent')
    expectNear(await at(west.bytes, 99, 50), [255, 254, 254], 'the other side')
  })

  it('gives every frame its own', async () => {
    const moving = await animation({ width: 40, height: 30 })
    const { bytes } = await transformed(moving, 'gradient=fff&gradient_size=20&f=webp&lossless', {
      format: 'gif',
    })
    for (const page of [0, 1, 2]) {
      const frame = await sharp(bytes, { page }).png().toBuffer()
      // The last row is 1.7 percent above the edge.
      expect(Math.min(...(await at(frame, 20, 29))), `frame ${page}`).to.be.above(230)
      expect(Math.min(...(await at(frame, 20, 20))), `frame ${page}`).to.be.below(10)
    }
  })

  it('refuses the centre as a side', async () => {
    const error = await rejection(transformed(await plain('#ffffff'), 'gradient=000&gradient_pos=center'))
    expect(error).to.be.instanceOf(Problem).that.includes({ status: 400 })
  })
})

/** A LUT of this size that maps each colour by a function. */
function cube(size: number, map: (rgb: number[]) => number[], head = ''): Buffer {
  const lines = [`TITLE "test"`, '# a comment', `LUT_3D_SIZE ${size}`, head]
  for (let b = 0; b < size; b += 1)
    for (let g = 0; g < size; g += 1)
      for (let r = 0; r < size; r += 1)
        lines.push(
          map([r, g, b].map((value) => value / (size - 1)))
            .map((value) => value.toFixed(6))
            .join(' '),
        )
  return Buffer.from(lines.join('\r\n'))
}

describe('image-lut', () => {
  const KEY = 'text/txt/7uLqEUXG4WpoGGa38h2U9Z.txt'
  const look = async (source: Buffer, lut: Buffer, more = '', format = 'png') =>
    transformed(source, `lut=${KEY}${more}`, { format, assets: { [KEY]: assetOf(lut, 'txt') } })

  for (const [about, lut, from, to] of [
    ['the same colours', cube(2, (rgb) => rgb), '#4080c0', [0x40, 0x80, 0xc0]],
    ['a negative', cube(17, (rgb) => rgb.map((value) => 1 - value)), '#4080c0', [0xbf, 0x7f, 0x3f]],
    ['exchanged channels', cube(5, ([r = 0, g = 0, b = 0]) => [b, r, g]), '#4080c0', [0xc0, 0x40, 0x80]],
    ['a curve', cube(33, (rgb) => rgb.map((value) => value ** 2)), '#808080', [64, 64, 64]],
    [
      'a domain',
      cube(2, (rgb) => rgb, 'DOMAIN_MIN 0 0 0\nDOMAIN_MAX 0.5 0.5 0.5'),
      '#4080c0',
      [128, 255, 255],
    ],
  ] as const) {
    it(`applies ${about}`, async () => {
      expectNear(await at((await look(await plain(from), lut)).bytes, 5, 5), to, about)
    })
  }

  it('mixes with the source by its strength, and keeps transparency', async () => {
    const negative = cube(2, (rgb) => rgb.map((value) => 1 - value))
    const { bytes } = await look(await plain('#ff000080'), negative, '&lut_strength=50')
    expectNear(await at(bytes, 5, 5), [128, 128, 128, 128], 'half')
  })

  it('converts a retained profile to sRGB', async () => {
    const p3 = await sharp(await plain('#ff0000'))
      .withIccProfile('p3')
      .png()
      .toBuffer()
    const { bytes, metadata } = await look(
      p3,
      cube(2, (rgb) => rgb),
      '&icc=keep',
    )
    expect(metadata.icc).to.equal(undefined)
    expectNear(await at(bytes, 5, 5), [255, 0, 0], 'red')
  })

  for (const [about, text, message] of [
    ['a 1D LUT', 'LUT_1D_SIZE 2\n0 0 0\n1 1 1', '1D'],
    ['no table', 'a note', 'LUT_3D_SIZE'],
    ['too few colours', 'LUT_3D_SIZE 2\n0 0 0', 'fewer'],
    ['too many colours', `LUT_3D_SIZE 2\n${'0 0 0\n'.repeat(9)}`, 'more'],
    ['a huge size', 'LUT_3D_SIZE 4000', 'from 2 to 65'],
    ['words for numbers', 'LUT_3D_SIZE 2\n0 0 x', 'three numbers'],
  ] as const) {
    it(`refuses ${about}`, async () => {
      const error = await rejection(look(await plain('#ffffff'), Buffer.from(text)))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 422 })
      expect(error).to.have.property('message').that.includes(message)
    })
  }
})

describe('corners of image-radius', () => {
  for (const [query, clear] of [
    ['radius=50,0,0,0', [true, false, false, false]],
    ['radius=0,50', [false, true, false, true]],
    ['radius=10,0,20', [true, false, true, false]],
    ['radius=0,0,0,30', [false, false, false, true]],
    ['radius=20', [true, true, true, true]],
  ] as const) {
    it(`rounds the corners of ${query}`, async () => {
      const { bytes } = await transformed(await plain('#ff0000', { width: 100, height: 100 }), query)
      const alphas = await Promise.all(
        (
          [
            [0, 0],
            [99, 0],
            [99, 99],
            [0, 99],
          ] as const
        ).map(async ([x, y]) => (await colourAt(bytes, x, y)).a),
      )
      expect(alphas.map((alpha) => alpha === 0)).to.deep.equal(clear)
    })
  }
})
