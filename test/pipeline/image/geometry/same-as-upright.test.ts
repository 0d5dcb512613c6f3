import { expect } from 'chai'
import sharp, { type Sharp } from 'sharp'
import { sized } from '../../../support/sized.ts'
import { assetOf, transformed } from '../transform.ts'

const [WIDTH, HEIGHT] = [120, 70]
const MARK = 'image/png/7JAiMJ5xg1xH6JYSiPjo5R.png'

// How the upright picture is stored, so that a viewer that follows its EXIF orientation shows it upright. See EXIF 2.32,
// tag 0x0112.
const STORED: Readonly<Record<number, (upright: Sharp) => Sharp>> = {
  2: (upright) => upright.flop(),
  3: (upright) => upright.rotate(180),
  4: (upright) => upright.flip(),
  5: (upright) => upright.rotate(270).flop(),
  6: (upright) => upright.rotate(270),
  7: (upright) => upright.rotate(90).flop(),
  8: (upright) => upright.rotate(90),
}

/** A red box, not in the middle, in a border of one colour: no two of its corners and edges are equal. */
async function upright(): Promise<Buffer> {
  const pixels = Buffer.alloc(WIDTH * HEIGHT * 3, 200)
  for (let y = 10; y < HEIGHT - 25; y += 1)
    for (let x = 15; x < WIDTH - 40; x += 1)
      pixels.set([200, (3 * x) % 200, (5 * y) % 200], 3 * (y * WIDTH + x))
  return sharp(pixels, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
    .png()
    .toBuffer()
}

// Mirrored and turned to a side. upright.test.ts has all of them.
const FEW = [5]

const known = new Map<number, Promise<Buffer>>()

function stored(orientation: number): Promise<Buffer> {
  const bytes = known.get(orientation) ?? rendered(orientation)
  known.set(orientation, bytes)
  return bytes
}

async function rendered(orientation: number): Promise<Buffer> {
  const turn = STORED[orientation]
  if (!turn) return upright()
  // In two steps: sharp would turn before it mirrors, whatever the order of the calls.
  const [turned] = await Promise.all([
    turn(sharp(await upright()))
      .png()
      .toBuffer(),
  ])
  return sharp(turned).withMetadata({ orientation }).png().toBuffer()
}

const QUERIES = [
  'trim',
  'trim&w=30',
  'trim&crop=3,5,20,10',
  'crop=12,8,40,20',
  'crop=10,20,200,200&w=40',
  'fx=0.2&fy=0.9&w=30&h=30',
  'fx=0.1&fy=0.1&z=3',
  'func=southwest&w=50&h=20',
  'func=auto&w=30&h=30',
  'z=2&func=east',
  'ar=1:1&func=n',
  'rotate=90',
  'rotate=33&bg=fff',
  'flip',
  'flop&rotate=270',
  'flip&w=40&h=20',
  'pad=1,20,3,7&bg=fff',
  'pixelate_region=0.1,0.2,0.3,0.4',
  'blur_region=0.5,0.1,0.4,0.3',
  'gradient=f00&gradient_pos=top',
  `wm=${MARK}&wm_pos=se&wm_size=20`,
  'text=Hi&text_pos=nw',
  'fit=contain&w=50&h=50&bg=fff&func=n',
] as const

describe('geometry of a photo with an EXIF orientation', () => {
  for (const query of QUERIES)
    it(`is that of the upright picture: ${query}`, async () => {
      const assets = {
        [MARK]: assetOf(
          await sharp({ create: { width: 9, height: 5, channels: 3, background: '#00f' } })
            .png()
            .toBuffer(),
          'png',
        ),
      }
      const pixelsOf = async (orientation: number) => {
        const { bytes } = await transformed(await stored(orientation), `${query}&f=png`, { assets })
        const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
        return { size: `${info.width}x${info.height}`, data }
      }
      const expected = await pixelsOf(1)
      for (const orientation of sized(FEW, Object.keys(STORED).map(Number))) {
        const { size, data } = await pixelsOf(orientation)
        expect(size, `orientation ${orientation}`).to.equal(expected.size)
        let most = 0
        for (let i = 0; i < data.length; i += 1)
          most = Math.max(most, Math.abs((data[i] ?? 0) - (expected.data[i] ?? 0)))
        // The resize of a turned picture rounds in another order.
        expect(most, `orientation ${orientation}`).to.be.at.most(20)
      }
    })
})
