import type { Decoder } from '../decoders/decoder.ts'
import { profileOfPrimaries } from '../decoders/heif-values.ts'
import { tiffOf } from '../decoders/tiff.ts'
import { checkPage } from '../pixel-limits.ts'
import { readFrames } from './read-frames.ts'
import { sequenceIn } from './tracks.ts'

/**
 * Image sequences of AVIF and HEIC: animations. ffmpeg decodes them, as it decodes videos: libheif as WebAssembly has no decoder for
 * AV1, and crashes at frames that are stored in another order than they are shown (1.23).
 */
export const sequence: Decoder = {
  library: 'ffmpeg',
  // Measured with 12 MP in 48 frames: the pixels of ffmpeg and the TIFF.
  bytesPerPixel: 12,

  facts: sequenceIn,

  async decode(bytes, { page = 1, frames = 'first', check, programs }) {
    const found = sequenceIn(bytes)
    if (!programs) throw new Error('the decoder of image sequences needs a program')
    if (!found) throw new Error('the image sequence has no track of images')
    const { width, height, hasAlpha, delays, loop } = found
    checkPage(page, found)
    const pages = frames === 'all' ? found.pages : 1
    check({ width, height, pages })
    const channels = hasAlpha ? 4 : 3
    const pixels = Buffer.allocUnsafe(width * height * channels * pages)
    const { tracks } = found
    const merged = tracks.alpha === undefined ? 'null' : `[0:${tracks.alpha}]alphamerge`
    await readFrames(bytes, pixels, {
      // The edit list repeats the animation, which browsers do themselves.
      input: { demuxer: 'mov', options: ['-ignore_editlist', '1'] },
      filter: `[0:${tracks.colours}]${merged}`,
      ...{ width, height, channels, page, pages, programs },
    })
    const row = (y: number) => pixels.subarray(y * width * channels, (y + 1) * width * channels)
    const profile = await profileIn(found.colours)
    const tiff = tiffOf({ width, height, channels, pages, ...(profile ? { profile } : {}), row })
    return {
      bytes: tiff,
      mediaType: 'image/tiff',
      ...(pages > 1 ? { timing: { delay: delays(), loop } } : {}),
    }
  },
}

/** The ICC profile in a box `colr`, or that of the colours that it names. Undefined: sRGB. */
async function profileIn(colours: Buffer): Promise<Buffer | undefined> {
  const type = colours.toString('latin1', 0, 4)
  if (type === 'prof' || type === 'rICC') return colours.subarray(4)
  return type === 'nclx' ? profileOfPrimaries(colours.readUInt16BE(4)) : undefined
}
