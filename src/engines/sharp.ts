import sharp, { type Metadata, type Sharp } from 'sharp'
import { assetFromBytes, readAll } from '../core/asset.ts'
import { knownFormat } from '../core/media.ts'
import type { Engine } from '../core/plugin.ts'
import { notTransformable, Problem } from '../core/problem.ts'
import { tooMuchOf } from './svg-limits.ts'

declare module '../core/plugin.ts' {
  interface Engines {
    sharp: { draft: Sharp; source: ImageSource; opening: ImageOpening }
  }
}

/** What is known of an image before the first step. */
export interface ImageSource {
  /** Of one frame, in pixels, after EXIF orientation. */
  width: number
  height: number
  /** Frames that are taken; 1 for a still picture. */
  pages: number
  hasAlpha: boolean
  /** Sluice's name: `jpeg`, `png`, `svg`. */
  format: string
}

export interface ImageOpening {
  /** Take all frames of an animation (the default) or only the first. */
  frames: 'all' | 'first'
}

// Of these all frames are taken; the pages of a TIFF are separate pictures, of which the first is shown.
const ANIMATED = new Set(['gif', 'webp'])

// Red, green, blue and transparency in 8 bits each: what the limit of pixels reckons with.
const BYTES_PER_PIXEL = 4

// One thread per image: as many images at once as there are cores beat one image on all cores by far, and memory
// stays flat. The operation cache would only hold on to pictures that nobody asks for twice.
sharp.concurrency(1)
sharp.cache(false)

/** Images through libvips. */
export const sharpEngine: Engine<'sharp'> = {
  name: 'sharp',
  media: ['image'],

  async open(asset, { frames = 'all' }, { signal, limits }) {
    if (asset.size > limits.sourceMaxBytes) {
      throw notTransformable(
        `expected an image of at most ${limits.sourceMaxBytes} bytes to transform but this one has ${asset.size}`,
      )
    }
    const bytes = await readAll(asset, signal)
    const tooMuch = asset.mediaType === 'image/svg+xml' && tooMuchOf(bytes)
    if (tooMuch) throw notTransformable(`expected an SVG ${tooMuch} to transform but this one has more`)
    const metadata = await decoding(() => sharp(bytes, { limitInputPixels: false }).metadata())
    const source = describe(metadata, frames)
    // From the header alone: nothing has been decoded by here.
    const pixels = source.width * source.height * source.pages
    if (pixels > limits.sourceMaxPixels) {
      throw notTransformable(
        `expected at most ${limits.sourceMaxPixels} pixels over all frames to transform but this image has ${pixels}`,
      )
    }
    // Neither an interlaced image nor one that is to be turned can be read row by row: all of it is held.
    const held =
      metadata.isProgressive || (metadata.orientation ?? 1) > 1 ? pixels * bytesPerPixel(metadata) : 0
    if (held > limits.sourceMaxPixels * BYTES_PER_PIXEL) {
      throw notTransformable(
        `expected at most ${limits.sourceMaxPixels * BYTES_PER_PIXEL} bytes of pixels of an interlaced or turned image to transform but this one has ${held}`,
      )
    }
    const draft = sharp(bytes, { animated: source.pages > 1, limitInputPixels: limits.sourceMaxPixels })
    return { draft, source }
  },

  async render(draft, { limits }) {
    draft.timeout({ seconds: Math.ceil(limits.timeoutMs / 1000) })
    const { data, info } = await decoding(() => draft.toBuffer({ resolveWithObject: true }))
    const format = knownFormat(formatName(info.format))
    return assetFromBytes(data, { mediaType: format.mediaType, lastModified: new Date() })
  },
}

function bytesPerPixel({ channels, depth }: Metadata): number {
  const bytes = { uchar: 1, char: 1, ushort: 2, short: 2, uint: 4, int: 4, float: 4 }[depth as string] ?? 16
  return channels * bytes
}

function describe(metadata: Metadata, frames: ImageOpening['frames']): ImageSource {
  return {
    width: metadata.autoOrient.width,
    height: metadata.autoOrient.height,
    pages: frames === 'all' && ANIMATED.has(metadata.format) ? (metadata.pages ?? 1) : 1,
    hasAlpha: metadata.hasAlpha,
    format: formatName(metadata.format),
  }
}

/** libvips calls the container of an AVIF by its family's name; it reads no other of that family. */
function formatName(name: string): string {
  return name === 'heif' ? 'avif' : name
}

/** libvips's failures are about the picture: its message is for the log, the caller is told what it means. */
async function decoding<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof Problem) throw cause
    const timedOut = cause instanceof Error && /timeout/i.test(cause.message)
    throw notTransformable(
      timedOut
        ? 'this image takes too long to transform'
        : 'expected an image that can be decoded but this one cannot',
      cause,
    )
  }
}
