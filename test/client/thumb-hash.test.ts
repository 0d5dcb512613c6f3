import { expect } from 'chai'
import sharp from 'sharp'
import { rgbaToThumbHash, thumbHashToRGBA } from 'thumbhash'
import { thumbHashToDataUrl } from '../../client/index.ts'

/** A picture of so many pixels with some structure, and its hash. */
function hashOf(width: number, height: number, alpha: (x: number) => number): Uint8Array {
  const rgba = Uint8Array.from({ length: 4 * width * height }, (_, i) => {
    const [channel, x, y] = [i % 4, (i >> 2) % width, Math.floor(i / 4 / width)]
    return [3 * x, 5 * y, 255 - x - y, alpha(x)][channel] ?? 0
  })
  return rgbaToThumbHash(width, height, rgba)
}

async function pixels(dataUrl: string) {
  expect(dataUrl).to.match(/^data:image\/png;base64,/)
  const image = sharp(Buffer.from(dataUrl.slice(dataUrl.indexOf(',') + 1), 'base64'))
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
  return { w: info.width, h: info.height, channels: info.channels, rgba: data }
}

describe('thumbHashToDataUrl', () => {
  const opaque = () => 255
  const cases: [title: string, hash: Uint8Array][] = [
    ['a landscape', hashOf(80, 50, opaque)],
    ['a portrait', hashOf(30, 90, opaque)],
    ['a square', hashOf(40, 40, opaque)],
    ['a wide strip', hashOf(100, 10, opaque)],
    ['a landscape with transparency', hashOf(80, 50, (x) => 3 * x)],
    ['a portrait with transparency', hashOf(50, 80, (x) => 5 * x)],
  ]
  for (const [title, hash] of cases)
    it(`renders ${title} like the package thumbhash`, async () => {
      const expected = thumbHashToRGBA(hash)
      const { w, h, channels, rgba } = await pixels(thumbHashToDataUrl(Buffer.from(hash).toString('base64')))
      expect({ w, h, channels }).to.deep.equal({ w: expected.w, h: expected.h, channels: 4 })
      const off = [...rgba].filter((value, i) => Math.abs(value - (expected.rgba[i] ?? 0)) > 1)
      expect(off).to.deep.equal([])
      expect(thumbHashToDataUrl(hash)).to.equal(thumbHashToDataUrl(Buffer.from(hash).toString('base64')))
    })

  it('refuses other values', () => {
    for (const wrong of ['', 'no hash!', 'AAAA', new Uint8Array(40).fill(255)])
      expect(() => thumbHashToDataUrl(wrong), String(wrong)).to.throw(TypeError, 'expected a ThumbHash')
  })
})
