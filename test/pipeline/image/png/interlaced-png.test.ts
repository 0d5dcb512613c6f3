import { constants, deflateSync, inflateSync } from 'node:zlib'
import { expect } from 'chai'
import sharp, { type PngOptions, type Sharp } from 'sharp'
import { completedPng } from '../../../../src/engines/image/completed-png.ts'
import { rejection } from '../../../support/rejection.ts'
import { ADAM7 } from '../../../support/requests/attacks.ts'

const { signal } = new AbortController()
// Odd, so that no pass fills its last block.
const WIDTH = 37
const HEIGHT = 29
// After each pass: how far apart the pixels are that are known. @see PNG (third edition), section 8.1
const KNOWN_ACROSS = [8, 4, 4, 2, 2, 1, 1]
const KNOWN_DOWN = [8, 8, 4, 4, 2, 2, 1]

/** A picture of slopes and noise, for which an encoder chooses different filters. */
function slopes({ width = WIDTH, height = HEIGHT } = {}): Sharp {
  const pixels = Buffer.alloc(width * height * 4)
  for (let i = 0; i < width * height; i += 1) {
    const [x, y] = [i % width, Math.floor(i / width)]
    const noise = (x * 7919 + y * 104729) % 23
    pixels.set([(x * 6 + noise) & 255, (y * 8) & 255, (x + y + noise) & 255, 255 - ((x * y) & 127)], i * 4)
  }
  return sharp(pixels, { raw: { width, height, channels: 4 } })
}

const interlaced = (draft: Sharp, options: PngOptions = {}) =>
  draft.png({ progressive: true, adaptiveFiltering: true, ...options }).toBuffer()

const pixelsOf = (bytes: Buffer) =>
  sharp(bytes, { failOn: 'warning' }).toColourspace('rgb16').ensureAlpha().raw({ depth: 'ushort' }).toBuffer()

/** The file with the first bytes of its passes, filters included: neither the end of the compressed pixels nor of the file. */
function cutAfter(bytes: Buffer, passBytes: number): Buffer {
  const idats: Buffer[] = []
  let first = 0
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) !== 'IDAT') continue
    first ||= at
    idats.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)))
  }
  const passes = inflateSync(Buffer.concat(idats)).subarray(0, passBytes)
  const packed = deflateSync(passes, { finishFlush: constants.Z_SYNC_FLUSH })
  const head = Buffer.alloc(8)
  head.writeUInt32BE(packed.length + 1000)
  head.write('IDAT', 4)
  return Buffer.concat([bytes.subarray(0, first), head, packed])
}

/** Bytes of the first passes, filters included. */
function bytesOfPasses(count: number, bitsPerPixel: number): number {
  return ADAM7.slice(0, count).reduce((sum, [left, top, across, down]) => {
    const rowBytes = 1 + Math.ceil((Math.ceil((WIDTH - left) / across) * bitsPerPixel) / 8)
    return sum + Math.ceil((HEIGHT - top) / down) * rowBytes
  }, 0)
}

/** Pixels of 8 bytes: each is the nearest one to its left and above that is known. */
function coarser(pixels: Buffer, across: number, down: number): Buffer {
  const coarse = Buffer.alloc(pixels.length)
  for (let i = 0; i < WIDTH * HEIGHT; i += 1) {
    const [x, y] = [i % WIDTH, Math.floor(i / WIDTH)]
    const known = (y - (y % down)) * WIDTH + x - (x % across)
    pixels.copy(coarse, i * 8, known * 8, known * 8 + 8)
  }
  return coarse
}

const grey = () => slopes().removeAlpha().toColourspace('b-w')

describe('a truncated interlaced PNG after its completion', () => {
  for (const [what, bitsPerPixel, make] of [
    ['of 2 colours', 1, () => interlaced(grey(), { palette: true, colours: 2 })],
    ['of 4 colours', 2, () => interlaced(slopes(), { palette: true, colours: 4 })],
    ['of 16 colours', 4, () => interlaced(slopes(), { palette: true, colours: 16 })],
    ['of 256 colours', 8, () => interlaced(slopes(), { palette: true })],
    ['in grey', 8, () => interlaced(grey())],
    ['in grey with alpha', 16, () => interlaced(slopes().toColourspace('b-w'))],
    ['in grey of 16 bits', 16, () => interlaced(slopes().removeAlpha().toColourspace('grey16'))],
    ['in colour', 24, () => interlaced(slopes().removeAlpha())],
    ['in colour with alpha', 32, () => interlaced(slopes())],
    ['in colour of 16 bits with alpha', 64, () => interlaced(slopes().toColourspace('rgb16'))],
  ] as const)
    it(`has the nearest known pixel for each missing one (${what})`, async () => {
      const bytes = await make()
      const channels = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[bytes.readUInt8(25)] ?? 0
      expect([bytes.readUInt8(24) * channels, bytes.readUInt8(28)]).to.deep.equal([bitsPerPixel, 1])
      const whole = await pixelsOf(bytes)
      for (const [i, across] of KNOWN_ACROSS.entries()) {
        const cut = cutAfter(bytes, bytesOfPasses(i + 1, bitsPerPixel))
        const found = await pixelsOf(await completedPng(cut, signal))
        const expected = coarser(whole, across, KNOWN_DOWN[i] as number)
        expect(found.equals(expected), `after pass ${i + 1}`).to.equal(true)
      }
    })

  it('is more similar to the complete image, the more of the file is available', async () => {
    const bytes = await interlaced(slopes({ width: 300, height: 200 }).removeAlpha())
    const whole = await pixelsOf(bytes)
    const errors: number[] = []
    for (const share of [0.05, 0.3, 0.6, 0.95]) {
      const part = bytes.subarray(0, Math.round(bytes.length * share))
      const found = await pixelsOf(await completedPng(part, signal))
      let sum = 0
      for (let at = 1; at < found.length; at += 2) sum += Math.abs((found[at] ?? 0) - (whole[at] ?? 0))
      errors.push(sum / (found.length / 2))
    }
    expect(errors).to.deep.equal(errors.toSorted((a, b) => b - a))
    expect(errors[0]).to.be.below(70)
    expect(errors[1]).to.be.below(25)
    expect(errors[3]).to.be.below(3)
  })

  it('has zeros only where the first pass is missing', async () => {
    const bytes = await interlaced(slopes())
    const found = await pixelsOf(await completedPng(cutAfter(bytes, 2 * 21 + 5), signal))
    const whole = coarser(await pixelsOf(bytes), 8, 8)
    const there = 16 * WIDTH * 8
    expect(found.subarray(0, there).equals(whole.subarray(0, there))).to.equal(true)
    expect(found.subarray(there).every((byte) => byte === 0)).to.equal(true)
  })

  for (const [width, height] of [
    [1, 1],
    [3, 2],
    [5, 1],
    [1, 9],
    [8, 8],
  ] as const)
    it(`is complete when only its end is missing (${width} x ${height})`, async () => {
      const bytes = await interlaced(slopes({ width, height }))
      const found = await pixelsOf(await completedPng(bytes.subarray(0, -12), signal))
      expect(found.equals(await pixelsOf(bytes))).to.equal(true)
    })

  it('is an error without any row', async () => {
    const cut = cutAfter(await interlaced(slopes()), 20)
    expect(await rejection(completedPng(cut, signal))).to.include({ status: 422, code: 'not_transformable' })
  })
})
