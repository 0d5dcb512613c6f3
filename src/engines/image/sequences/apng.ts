import type { Decoder } from '../decoders/decoder.ts'
import { tiffOf } from '../decoders/tiff.ts'
import { checkPage } from '../pixel-limits.ts'
import { readFrames } from './read-frames.ts'

// Of our own: packages that list the frames of a PNG also decompress them all, in JavaScript. ffmpeg decodes those that are needed.

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
// A frame may be cleared to transparency, whatever its colours are.
const CHANNELS = 4

/**
 * Animated PNGs. libvips reads only their first image, so ffmpeg decodes them.
 *
 * @see PNG (third edition), section 4.8
 */
export const apng: Decoder = {
  library: 'ffmpeg',
  // As of other sequences.
  bytesPerPixel: 12,

  facts(head) {
    const found = animationIn(head)
    return found && { width: found.width, height: found.height, hasAlpha: true, pages: found.pages }
  },

  async decode(bytes, { page = 1, frames = 'first', check, programs }) {
    const found = animationIn(bytes)
    if (!programs) throw new Error('the decoder of animated PNGs needs a program')
    if (!found) throw new Error('the PNG is not animated')
    const { width, height, delays, loop } = found
    checkPage(page, found)
    const pages = frames === 'all' ? found.pages : 1
    check({ width, height, pages })
    const pixels = Buffer.allocUnsafe(width * height * CHANNELS * pages)
    await readFrames(bytes, pixels, {
      input: { demuxer: 'apng' },
      filter: '[0:0]null',
      ...{ width, height, channels: CHANNELS, page, pages, programs },
    })
    const row = (y: number) => pixels.subarray(y * width * CHANNELS, (y + 1) * width * CHANNELS)
    return {
      bytes: tiffOf({ width, height, channels: CHANNELS, pages, row }),
      mediaType: 'image/tiff',
      ...(pages > 1 ? { timing: { delay: delays, loop } } : {}),
    }
  },
}

/** Whether a PNG is animated, from its first bytes. Undefined when they end before the first image data. */
export function isAnimatedPng(head: Buffer): boolean | undefined {
  for (const { type } of chunksIn(head)) {
    if (type === 'acTL') return true
    if (type === 'IDAT') return false
  }
  return head.subarray(0, SIGNATURE.length).equals(SIGNATURE) ? undefined : false
}

interface Animation {
  width: number
  height: number
  /** The number of frames. */
  pages: number
  /** The durations of the frames in milliseconds: of those that these bytes have. */
  delays: number[]
  /** How often the animation is shown; 0: forever. */
  loop: number
}

/** The animation of a PNG. Undefined for a still image. */
function animationIn(bytes: Buffer): Animation | undefined {
  let size: { width: number; height: number } | undefined
  let control: { pages: number; loop: number } | undefined
  const delays: number[] = []
  for (const { type, content } of chunksIn(bytes)) {
    if (type === 'IHDR') size = { width: content.readUInt32BE(0), height: content.readUInt32BE(4) }
    else if (type === 'acTL') control = { pages: content.readUInt32BE(0), loop: content.readUInt32BE(4) }
    else if (type === 'fcTL' && content.length >= 24)
      delays.push(milliseconds(content.readUInt16BE(20), content.readUInt16BE(22)))
    else if (type === 'IDAT' && !control) return undefined
  }
  if (!size || !control || control.pages === 0 || size.width === 0 || size.height === 0) return undefined
  return { ...size, ...control, delays: delays.slice(0, control.pages) }
}

/** A denominator of 0 means 100. */
function milliseconds(numerator: number, denominator: number): number {
  return Math.round((numerator * 1000) / (denominator || 100))
}

/** The chunks of a PNG with their contents, as far as these bytes have them. */
function* chunksIn(bytes: Buffer): Generator<{ type: string; content: Buffer }> {
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return
  for (let at = SIGNATURE.length; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const content = bytes.subarray(at + 8, at + 8 + length)
    const type = bytes.toString('latin1', at + 4, at + 8)
    const isShort = (type === 'IHDR' || type === 'acTL') && content.length < 8
    if (!isShort) yield { type, content }
    at += 12 + length
  }
}
