import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { sequenceIn } from '../../../../src/engines/image/sequences/tracks.ts'
import { startPage } from '../../../support/peers/browser-pages.ts'
import { rejection } from '../../../support/rejection.ts'
import { everyNth, itLong, sized } from '../../../support/sized.ts'
import { assetOf, rendered, transformed } from '../transform.ts'

const [RED, BLUE, CLEAR] = ['#f00', '#00f', '#0000']

/** As {@link animation}, for thousands of small frames: red and blue in turn. */
async function manyFrames(delay: number[], side: number): Promise<Buffer> {
  const frameOf = (colour: number[]) => Buffer.from(Array.from({ length: side * side }, () => colour).flat())
  const [red, blue] = [frameOf([255, 0, 0]), frameOf([0, 0, 255])]
  const pixels = Buffer.concat(delay.map((_, i) => (i % 2 ? red : blue)))
  const raw = { width: side, height: side * delay.length, pageHeight: side, channels: 3 as const }
  return sharp(pixels, { raw, limitInputPixels: false }).webp({ delay, lossless: true }).toBuffer()
}

/** Frames of one colour each. */
async function animation(
  colours: readonly (string | undefined)[],
  {
    format = 'webp',
    loop = 0,
    delay,
    size = { width: 41, height: 31 },
  }: { format?: 'gif' | 'webp'; loop?: number; delay: number[]; size?: { width: number; height: number } },
): Promise<Buffer> {
  const frames = await Promise.all(
    colours.map((background = CLEAR) =>
      sharp({ create: { ...size, channels: 4, background: background as string } })
        .png()
        .toBuffer(),
    ),
  )
  const joined = frames.length > 1 ? sharp(frames, { join: { animated: true } }) : sharp(frames[0])
  return (
    format === 'gif' ? joined.gif({ loop, delay }) : joined.webp({ loop, delay, lossless: true })
  ).toBuffer()
}

const sequenceOf = async (source: Uint8Array, query: string, format = 'webp') => {
  const { bytes, mediaType } = await rendered({ query, source: assetOf(source, format) })
  expect(mediaType).to.equal('image/avif')
  return { bytes, sequence: sequenceIn(bytes) }
}

describe('an animation as AVIF', () => {
  let tab: Page
  let page: Server
  before(async () => {
    tab = await startPage()
    // Only pages of a trusted origin have the decoder.
    page = createServer((_, res) => res.setHeader('Content-Type', 'text/html').end('<!doctype html>'))
    await once(page.listen(0, '127.0.0.1'), 'listening')
    await tab.goto(`http://127.0.0.1:${(page.address() as AddressInfo).port}/`)
  })
  after(async () => {
    await tab.context().close()
    page.close()
  })

  /** What a browser decodes: times in milliseconds, and the first pixel of each frame. */
  const decoded = (bytes: Buffer) =>
    tab.evaluate(`(async () => {
      const data = Uint8Array.from(atob('${bytes.toString('base64')}'), (c) => c.charCodeAt(0))
      const decoder = new ImageDecoder({ data, type: 'image/avif' })
      await decoder.tracks.ready
      await decoder.completed
      const { frameCount, repetitionCount } = decoder.tracks.selectedTrack
      const frames = []
      for (let frameIndex = 0; frameIndex < frameCount; frameIndex += 1) {
        const { image } = await decoder.decode({ frameIndex })
        const canvas = new OffscreenCanvas(image.displayWidth, image.displayHeight)
        const context = canvas.getContext('2d')
        context.drawImage(image, 0, 0)
        frames.push({
          size: [image.displayWidth, image.displayHeight],
          ms: Math.round(image.duration / 1000),
          pixel: [...context.getImageData(3, 3, 1, 1).data],
        })
      }
      return { repetitionCount: repetitionCount === Infinity ? -1 : repetitionCount, frames }
    })()`) as Promise<{
      repetitionCount: number
      frames: Array<{ size: number[]; ms: number; pixel: number[] }>
    }>

  for (const loop of everyNth(3, [3, 0, 1]))
    it(`that is shown ${loop || 'any number of'} times has its frames, times and transparency in a browser`, async () => {
      const delay = [100, 40, 700]
      const source = await animation([RED, BLUE, undefined], { loop, delay })
      const { bytes, sequence } = await sequenceOf(source, 'f=avif')
      expect(sequence).to.include({ width: 41, height: 31, pages: 3, hasAlpha: true, loop })
      expect(sequence?.delays()).to.deep.equal(delay)
      const { repetitionCount, frames } = await decoded(bytes)
      expect(repetitionCount).to.equal(loop === 0 ? -1 : loop - 1)
      expect(frames.map(({ ms }) => ms)).to.deep.equal(delay)
      for (const [i, colour] of [
        [255, 0, 0, 255],
        [0, 0, 255, 255],
        [undefined, undefined, undefined, 0],
      ].entries())
        for (const [channel, value] of colour.entries())
          if (value !== undefined) expect(frames[i]?.pixel[channel], `frame ${i}`).to.be.closeTo(value, 12)
    })

  itLong('may be resized, lossless, and have frames that GIFs show longer than they state', async () => {
    const source = await animation([RED, BLUE], { format: 'gif', delay: [0, 10] })
    for (const [query, width] of [
      ['f=avif&w=20', 20],
      ['f=avif&lossless', 41],
      ['f=avif&greyscale&q=90', 41],
    ] as const) {
      const { bytes, sequence } = await sequenceOf(source, query, 'gif')
      expect(sequence, query).to.include({ width, pages: 2, hasAlpha: false })
      const { frames } = await decoded(bytes)
      expect(frames.map(({ ms }) => ms)).to.deep.equal([100, 100])
      if (query.includes('lossless')) expect(frames[1]?.pixel).to.deep.equal([0, 0, 255, 255])
    }
  })

  it('has a time of its own for each of many frames, and is read again', async () => {
    const delay = Array.from({ length: 300 }, (_, i) => 20 + ((i * 37) % 90))
    const source = await manyFrames(delay, 8)
    const { bytes, sequence } = await sequenceOf(source, 'f=avif')
    expect(sequence?.delays()).to.deep.equal(delay)
    const { metadata } = await transformed(bytes, 'f=webp', { format: 'avif' })
    expect(metadata).to.deep.include({ pages: 300, delay })
  })

  it('is endless when its repetitions take longer than the file can state', async () => {
    const source = await animation([RED, BLUE], { loop: 60_000, delay: [4000, 4000] })
    expect((await sequenceOf(source, 'f=avif')).sequence?.loop).to.equal(0)
    const often = await animation([RED, BLUE], { loop: 60_000, delay: [20, 20] })
    expect((await sequenceOf(often, 'f=avif')).sequence?.loop).to.equal(60_000)
  })

  itLong('has any times of the most frames that are transformed', async () => {
    const frames = sized(500, 5000)
    const delay = Array.from({ length: frames }, (_, i) => (i % 2 ? 1234 : 4321 + i))
    const source = await manyFrames(delay, 2)
    expect((await sharp(source, { animated: true }).metadata()).pages).to.equal(frames)
    expect((await sequenceOf(source, 'f=avif')).sequence?.delays()).to.deep.equal(delay)
  })

  it('is still with a=0, page, maxbytes, or one frame', async () => {
    const source = await animation([RED, BLUE], { delay: [50, 50] })
    for (const query of ['f=avif&a=0', 'f=avif&page=2', 'f=avif&maxbytes=2000'])
      expect((await transformed(source, query, { format: 'webp' })).metadata.pages ?? 1, query).to.equal(1)
    const single = await animation([RED], { delay: [50] })
    expect((await transformed(single, 'f=avif', { format: 'webp' })).metadata.format).to.equal('heif')
  })

  it('is refused when it takes too long', async () => {
    const delay = Array.from({ length: 60 }, () => 50)
    const source = await animation(
      delay.map((_, i) => (i % 2 ? RED : BLUE)),
      { delay, size: { width: 300, height: 200 } },
    )
    const limits = { timeoutMs: 1 }
    const refused = rendered({ query: 'f=avif', source: assetOf(source, 'webp'), limits })
    expect(await rejection(refused)).to.include({ status: 422 })
  })
})
