import sharp, { type Metadata, type Sharp } from 'sharp'
import { assetFromBytes, readAll } from '../core/asset.ts'
import { knownFormat } from '../core/media.ts'
import type { Engine, EngineContext, Opened, TransformLimits } from '../core/plugin.ts'
import { formatTooSmall, notTransformable, Problem } from '../core/problem.ts'
import { inspectSvg } from './svg-limits.ts'

declare module '../core/plugin.ts' {
  interface Engines {
    sharp: { draft: Sharp; source: ImageSource; opening: ImageOpening }
  }
}

/** What is known of an image before the first step, and again before each that begins a new pass. */
export interface ImageSource {
  /** Of one frame, in pixels, after it has been turned upright. */
  width: number
  height: number
  /** Frames that are taken; 1 for a still picture. */
  pages: number
  hasAlpha: boolean
  /** The original's, by Sluice's name: `jpeg`, `png`, `svg` while it can still be drawn in any size. */
  format: string
  /** Device pixels per pixel of what the URL asks for, once it has been resized for them; 1 unless it was. */
  dpr: number
  /** Of an animation: how long each frame is shown, in ms, and how often all of them are; 0 is forever. */
  timing?: { delay: number[]; loop: number }
}

export interface ImageOpening {
  /** Take all frames of an animation (the default) or only the first. */
  frames: 'all' | 'first'
  /** Turn it as its EXIF orientation says, before every step. */
  upright: boolean
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

  async open(asset, { frames = 'all', upright = false }, { signal, limits }) {
    if (asset.size > limits.sourceMaxBytes) {
      throw notTransformable(
        `expected an image of at most ${limits.sourceMaxBytes} bytes to transform but this one has ${asset.size}`,
      )
    }
    const bytes = await readAll(asset, signal)
    if (asset.mediaType === 'image/svg+xml') await checkSvg(bytes, limits)
    const metadata = await decoding(() => sharp(bytes, { limitInputPixels: false }).metadata())
    const source = describe(metadata, { frames, upright })
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
    const draft = sharp(bytes, {
      animated: source.pages > 1,
      autoOrient: upright,
      limitInputPixels: limits.sourceMaxPixels,
    })
    return { draft, source }
  },

  async render(draft, { limits }) {
    draft.timeout({ seconds: Math.ceil(limits.timeoutMs / 1000) })
    const { data, info } = await rendering(() => draft.toBuffer({ resolveWithObject: true }))
    const format = knownFormat(formatName(info.format))
    return assetFromBytes(data, { mediaType: format.mediaType, lastModified: new Date() })
  },

  async settle(opened, context, each) {
    if (each === undefined) return fromPixels(await pixelsOf(opened, context), opened.source, context)
    const changed: Pixels[] = []
    const deadline = performance.now() + context.limits.timeoutMs
    for (const frame of await sharpEngine.frames(opened, context)) {
      context.signal.throwIfAborted()
      if (performance.now() > deadline) throw notTransformable(TOO_LONG)
      const draft = await each(frame.draft, frame.source)
      changed.push(await pixelsOf({ draft, source: frame.source }, context))
    }
    return fromPixels(stacked(changed), opened.source, context)
  },

  async frames(opened, context) {
    const { data, width, height, channels, pages } = await pixelsOf(opened, context)
    const bytes = data.length / pages
    return Array.from({ length: pages }, (_, i) => {
      const frame = data.subarray(i * bytes, (i + 1) * bytes)
      return fromPixels({ data: frame, width, height, channels, pages: 1 }, opened.source, context)
    })
  },

  async verify(asset, opening, context) {
    const { draft } = await sharpEngine.open(asset, opening, context)
    draft.timeout({ seconds: Math.ceil(context.limits.timeoutMs / 1000) })
    // One pixel of all of them: each is decoded, none is kept.
    const all = draft.resize(1, 1, { fit: 'fill', fastShrinkOnLoad: false }).raw()
    await decoding(() => rendering(() => all.toBuffer()))
  },
}

/** A picture as its pixels: the frames of an animation one below the other. */
interface Pixels {
  data: Buffer
  width: number
  /** Of one frame. */
  height: number
  channels: Channels
  pages: number
}

type Channels = 1 | 2 | 3 | 4

// Of the draft itself: a copy of it would copy the bytes that it is of, for each frame those of all.
async function pixelsOf({ draft }: Opened<'sharp'>, { limits }: EngineContext): Promise<Pixels> {
  const raw = draft.timeout({ seconds: Math.ceil(limits.timeoutMs / 1000) }).raw()
  const { data, info } = await rendering(() => raw.toBuffer({ resolveWithObject: true }))
  const { width, height, channels, pages = 1 } = info
  return { data, width, height: info.pageHeight ?? height, channels, pages }
}

/** A draft of pixels. What they are not, the source still tells: the original's format, how long each frame is shown. */
function fromPixels(
  { data, width, height, channels, pages }: Pixels,
  source: ImageSource,
  { limits }: EngineContext,
): Opened<'sharp'> {
  const animated = pages > 1
  const raw = { width, height: height * pages, channels, ...(animated ? { pageHeight: height } : {}) }
  // Several steps make a picture larger than any source may be: each has looked at the limit of what it makes.
  const limitInputPixels = Math.max(limits.sourceMaxPixels, limits.outputMaxPixels)
  const draft = sharp(data, { raw, animated, limitInputPixels })
  return {
    // Options of all encoders of animations, kept until one of them is chosen.
    draft: animated && source.timing ? draft.gif(source.timing) : draft,
    source: {
      ...source,
      width,
      height,
      pages,
      format: source.format === 'svg' ? 'png' : source.format,
      hasAlpha: channels === 2 || channels === 4,
    },
  }
}

/** Frames of one size as an animation. */
function stacked(frames: readonly Pixels[]): Pixels {
  const [first] = frames
  if (!first) throw new Error('an animation without frames')
  return {
    ...first,
    data: frames.length === 1 ? first.data : Buffer.concat(frames.map(({ data }) => data)),
    pages: frames.length,
  }
}

/** @throws Problem 422 for what would be too much to draw */
async function checkSvg(bytes: Buffer, { sourceMaxPixels }: TransformLimits): Promise<void> {
  const { tooMuch, pictures } = inspectSvg(bytes)
  if (tooMuch) throw notTransformable(`expected an SVG ${tooMuch} to transform but this one has more`)
  let pixels = 0
  for (const picture of pictures) {
    const { width, height } = await decoding(() => sharp(picture, { limitInputPixels: false }).metadata())
    // librsvg decodes the whole of each, however small it is drawn.
    pixels += width * height
    if (pixels > sourceMaxPixels) {
      throw notTransformable(
        `expected an SVG with at most ${sourceMaxPixels} pixels in pictures within to transform but this one has more`,
      )
    }
  }
}

function bytesPerPixel({ channels, depth }: Metadata): number {
  const bytes = { uchar: 1, char: 1, ushort: 2, short: 2, uint: 4, int: 4, float: 4 }[depth as string] ?? 16
  return channels * bytes
}

function describe(
  metadata: Metadata,
  { frames, upright }: Pick<ImageOpening, 'frames' | 'upright'>,
): ImageSource {
  const { width, height } = upright ? metadata.autoOrient : metadata
  const pages = frames === 'all' && ANIMATED.has(metadata.format) ? (metadata.pages ?? 1) : 1
  const timing = { delay: metadata.delay ?? [], loop: metadata.loop ?? 0 }
  return {
    width,
    height,
    pages,
    hasAlpha: metadata.hasAlpha,
    format: formatName(metadata.format),
    dpr: 1,
    ...(pages > 1 && timing.delay.length > 0 ? { timing } : {}),
  }
}

/** libvips calls the container of an AVIF by its family's name; it reads no other of that family. */
function formatName(name: string): string {
  return name === 'heif' ? 'avif' : name
}

/** For work in which nothing but the picture can be at fault: the caller is told so, libvips's own words are logged. */
async function decoding<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof Problem) throw cause
    throw notTransformable('expected an image that can be decoded but this one cannot', cause)
  }
}

const TOO_LONG = 'this image takes too long to transform'

// Longest side that an encoder takes, and how it says no. The JPEG format itself ends at 65535, libjpeg a little before.
const FORMAT_LIMITS = [
  { format: 'webp', maxSide: 16_383, refusal: /too large for the WebP format/ },
  { format: 'avif', maxSide: 16_384, refusal: /too large for the HEIF format|heifsave: image too large/ },
  { format: 'jpeg', maxSide: 65_500, refusal: /too large for the JPEG format|VipsJpeg: Maximum supported/ },
  { format: 'gif', maxSide: 65_535, refusal: /too large for the GIF format/ },
] as const

/** For work in which picture, plugins and encoder meet. What is not known here is for the runner to find out. */
async function rendering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : ''
    if (/timeout/i.test(message)) throw notTransformable(TOO_LONG, cause)
    if (/Input SVG image (will )?exceed/.test(message)) {
      const expected = 'expected an SVG of at most 32767 px a side but this one is larger: ask for a size'
      throw notTransformable(expected, cause)
    }
    const limit = FORMAT_LIMITS.find(({ refusal }) => refusal.test(message))
    throw limit ? formatTooSmall(limit, cause) : cause
  }
}
