import { expect } from 'chai'
import sharp, { type Sharp } from 'sharp'
import { everyNth, sized } from '../../../support/sized.ts'
import { transformed } from '../transform.ts'
import { drawn, numbers, photo } from './sources.ts'

const COUNT = sized(6, 2000)
const [WIDTH, HEIGHT] = [240, 160]
const SIZE = { width: WIDTH, height: HEIGHT }
const SMALL = { width: WIDTH / 2, height: HEIGHT / 2 }

type Random = () => number
const colourOf = (next: Random) => [next() * 255, next() * 255, next() * 255]

/** Kinds of pictures, each drawn with random numbers. */
const KINDS: Readonly<Record<string, (next: Random) => Sharp>> = {
  flat(next) {
    const colour = colourOf(next)
    return drawn(SIZE, () => colour)
  },
  noise: (next) => drawn(SIZE, () => colourOf(next)),
  gradient(next) {
    const [from, to] = [colourOf(next), colourOf(next)]
    return drawn(SIZE, (x) => from.map((value, i) => value + (((to[i] ?? 0) - value) * x) / WIDTH))
  },
  palette(next) {
    const background = colourOf(next)
    const shapes = Array.from({ length: 2 + Math.floor(next() * 12) }, () => ({
      colour: colourOf(next),
      isRound: next() < 0.5,
      ...{ x: next() * WIDTH, y: next() * HEIGHT, size: 8 + next() * 60 },
    }))
    return drawn(SIZE, (x, y) => {
      const hit = shapes.find(({ isRound, ...at }) => {
        const [dx, dy] = [Math.abs(x - at.x), Math.abs(y - at.y)]
        return isRound ? Math.hypot(dx, dy) < at.size : Math.max(dx, dy) < at.size
      })
      return hit?.colour ?? background
    })
  },
  alpha(next) {
    const colour = colourOf(next)
    const radius = 20 + next() * 80
    return drawn(SIZE, (x, y) => [...colour, 255 * Math.max(0, 1 - Math.hypot(x - 120, y - 80) / radius)])
  },
  photo: (next) => photo({ ...SIZE, seed: Math.floor(next() * 1e6) }),
}

const STORED: Readonly<Record<string, (image: Sharp, next: Random) => Sharp>> = {
  png: (image) => image.png({ effort: 10, compressionLevel: 9 }),
  jpeg: (image, next) => image.flatten().jpeg({ quality: 5 + Math.floor(next() * 95) }),
  webp: (image, next) =>
    next() < 0.5 ? image.webp({ lossless: true }) : image.webp({ quality: 5 + Math.floor(next() * 95) }),
  gif: (image) => image.gif(),
}

const QUERIES = ['w=240', 'w=5000', 'w=200', 'w=120&h=120', 'f=auto', 'w=190&f=auto', 'w=150&f=auto']

describe('a derivative without a requested quality', () => {
  it(`is never larger than its original and than 4 KB, in ${COUNT} pictures`, async () => {
    const next = numbers(7)
    const larger: string[] = []
    for (let i = 0; i < COUNT; i += 1) {
      const pick = <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)] as T
      const [kind, draw] = pick(Object.entries(KINDS))
      const [format, store] = pick(Object.entries(STORED))
      const source = await store(draw(next), next).toBuffer()
      const query = pick(QUERIES)
      const accept = pick(['image/avif,image/webp,*/*', 'image/webp,*/*', '*/*'])
      const { bytes } = await transformed(source, query, { format, accept })
      if (bytes.length > Math.max(4096, source.length))
        larger.push(`${kind} as ${format}, ${query}, ${accept}: ${bytes.length} of ${source.length}`)
    }
    expect(larger).to.deep.equal([])
  })

  it('is never larger than its original: an animation', async () => {
    const next = numbers(3)
    const frames = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        photo({ width: 90, height: 60, seed: Math.floor(next() * 100) + i })
          .png()
          .toBuffer(),
      ),
    )
    const joined = sharp(frames, { join: { animated: true } })
    for (const [format, stored] of [
      ['gif', joined.clone().gif({ colours: 16, dither: 0 })],
      ['webp', joined.clone().webp({ quality: 25 })],
    ] as const) {
      const source = await stored.toBuffer()
      for (const query of everyNth(2, ['w=90', 'w=80', 'w=45'])) {
        const { bytes, metadata } = await transformed(source, query, { format })
        expect(metadata.pages, query).to.equal(6)
        expect(bytes.length, `${format} ${query}`).to.be.at.most(Math.max(4096, source.length))
      }
    }
  })

  it('is an animation in the smaller one of GIF and WebP with f=auto', async () => {
    const animationOf = async (frame: (i: number) => Sharp) => {
      const frames = await Promise.all(Array.from({ length: 8 }, (_, i) => frame(i).png().toBuffer()))
      return sharp(frames, { join: { animated: true } })
        .gif()
        .toBuffer()
    }
    const squares = await animationOf((i) =>
      drawn(SMALL, (x, y) => (x > i * 10 && x < i * 10 + 15 && y < 15 ? [200, 30, 30] : [20, 20, 90])),
    )
    const filmed = await animationOf((i) => photo({ ...SMALL, seed: i }))
    for (const [source, format] of [
      [squares, 'gif'],
      [filmed, 'webp'],
    ] as const) {
      const at = async (query: string) =>
        (await transformed(source, query, { format: 'gif', accept: 'image/avif,image/webp' })).bytes.length
      const { metadata, bytes } = await transformed(source, 'f=auto&flip', {
        format: 'gif',
        accept: 'image/avif,image/webp',
      })
      expect(metadata).to.include({ format, pages: 8 })
      expect(bytes.length).to.equal(Math.min(await at('f=gif&flip'), await at('f=webp&flip')))
    }
  })
})
