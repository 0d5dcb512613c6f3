import sharp, { type Metadata, type Sharp } from 'sharp'
import { assetFromBytes, readAll } from '../core/asset.ts'
import { knownFormat } from '../core/media.ts'
import type { EachFrame, Engine, EngineContext, Opened, TransformLimits } from '../core/plugin.ts'
import {
  badParameter,
  formatTooSmall,
  notDecodable,
  notTransformable,
  Problem,
  takesTooLong,
} from '../core/problem.ts'
import { defused } from './bombs.ts'
import { shareBytesOfClones } from './sharp-clone.ts'
import { forecastImage } from './sharp-forecast.ts'
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
  /** The draft has the source's own colours, and the ICC profile that says what they mean; else they are sRGB. */
  keepsProfile?: true
  /** Device pixels per pixel of what the URL asks for, once it has been resized for them; 1 unless it was. */
  dpr: number
  /** Of an animation: how long each frame is shown, in ms, and how often all of them are; 0 is forever. */
  timing?: { delay: number[]; loop: number }
}

export interface ImageOpening {
  /** Take all frames of an animation (the default) or only the first. */
  frames: 'all' | 'first'
  /** Which frame of an animation or page of a TIFF is to be taken in place of the first, from 1. */
  page: number
  /** Leave colours and profile of an RGB picture as they are, or turn them into sRGB (the default). */
  profile: 'keep' | 'srgb'
  /** Turn it as its EXIF orientation says, before every step. */
  upright: boolean
}

// Of these all frames are taken; the pages of a TIFF are separate pictures, of which the first is shown.
const ANIMATED = new Set(['gif', 'webp'])

// Of which the profile says what red, green and blue are.
const RGB = new Set(['srgb', 'rgb', 'rgb16'])

// Red, green, blue and transparency in 8 bits each: what the limit of pixels reckons with.
const BYTES_PER_PIXEL = 4

// One thread per image: as many images at once as there are cores beat one image on all cores by far, and memory
// stays flat. The operation cache would only hold on to pictures that nobody asks for twice.
sharp.concurrency(1)
sharp.cache(false)
shareBytesOfClones()

/** Images through libvips. */
export const sharpEngine: Engine<'sharp'> = {
  name: 'sharp',
  media: ['image'],

  forecast: forecastImage,

  async open(asset, { frames = 'all', page = 1, profile = 'srgb', upright = false }, { signal, limits }) {
    if (asset.size > limits.sourceMaxBytes) {
      throw notTransformable(
        `expected an image of at most ${limits.sourceMaxBytes} bytes to transform but this one has ${asset.size}`,
      )
    }
    const bytes = defused(await readAll(asset, signal))
    if (asset.mediaType === 'image/svg+xml') await checkSvg(bytes, limits)
    let metadata = await decoding(() => sharp(bytes, { limitInputPixels: false }).metadata())
    if (page > 1) {
      checkPage(page, metadata)
      // The pages of a TIFF may differ in size.
      metadata = await decoding(() => sharp(bytes, { page: page - 1, limitInputPixels: false }).metadata())
    }
    const source = describe(metadata, { frames, upright, profile })
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
      ...(page > 1 ? { page: page - 1 } : { animated: source.pages > 1 }),
      autoOrient: upright,
      limitInputPixels: limits.sourceMaxPixels,
    })
    // Sharp works on 16 bits in P3, and would send its numbers without saying so: pale colours, of sRGB sources too.
    if (metadata.icc && metadata.space === 'rgb16' && !source.keepsProfile) {
      draft.withIccProfile('srgb', { attach: false })
    }
    return { draft: withProfile(draft, source), source }
  },

  async render(draft, { limits }) {
    draft.timeout({ seconds: Math.ceil(limits.timeoutMs / 1000) })
    const { data, info } = await rendering(() => draft.toBuffer({ resolveWithObject: true }))
    const format = knownFormat(formatName(info.format))
    return assetFromBytes(data, { mediaType: format.mediaType, lastModified: new Date() })
  },

  async settle(opened, context, each) {
    if (opened.source.keepsProfile) return settledWithProfile(opened, context, each)
    if (each === undefined) return fromPixels(await pixelsOf(opened, context), opened.source, context)
    const before = await pixelsOf(opened, context)
    let after: Pixels | undefined
    for (const [i, frame] of framesOf(before, opened.source, context).entries()) {
      context.signal.throwIfAborted()
      const draft = await each(frame.draft, frame.source)
      const changed = await pixelsOf({ draft, source: frame.source }, context)
      after ??= roomFor(changed, before)
      if (changed.data.length * after.pages !== after.data.length) {
        throw new Error('expected frames of one size of a plugin that changes each by itself')
      }
      after.data.set(changed.data, i * changed.data.length)
    }
    return fromPixels(after ?? before, opened.source, context)
  },

  async frames(opened, context) {
    return framesOf(await pixelsOf(opened, context), opened.source, context)
  },

  async verify(asset, opening, context) {
    const { draft } = await sharpEngine.open(asset, opening, context)
    draft.timeout({ seconds: Math.ceil(context.limits.timeoutMs / 1000) })
    // One pixel of all of them: each is decoded, none is kept.
    const all = draft.resize(1, 1, { fit: 'fill', fastShrinkOnLoad: false }).raw()
    await decoding(() => rendering(() => all.toBuffer()))
  },
}

/** A new pass of a picture with its profile, which pixels alone would lose: in a file. */
async function settledWithProfile(
  { draft, source }: Opened<'sharp'>,
  context: EngineContext,
  each?: EachFrame<'sharp'>,
): Promise<Opened<'sharp'>> {
  const { limits } = context
  const animated = source.pages > 1
  const copy = draft.clone().timeout({ seconds: Math.ceil(limits.timeoutMs / 1000) })
  const file = animated ? copy.webp({ lossless: true, effort: 0 }) : copy.png({ compressionLevel: 0 })
  const input = sharp(await rendering(() => file.toBuffer()), {
    animated,
    limitInputPixels: pixelsWithin(limits),
  })
  const { width, height, hasAlpha } = await input.metadata()
  const format = source.format === 'svg' ? 'png' : source.format
  const known = { ...source, width, height, hasAlpha, format }
  if (each && animated) {
    // Frames by themselves are pixels: in sRGB they need no profile.
    const { keepsProfile: _, ...plain } = known
    return sharpEngine.settle({ draft: input, source: plain }, context, each)
  }
  const settled = { draft: input.keepIccProfile(), source: known }
  if (!each) return settled
  return settledWithProfile({ ...settled, draft: await each(settled.draft, known) }, context)
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

// Of a draft that has been copied, so that the caller's own goes on.
async function pixelsOf({ draft }: Opened<'sharp'>, { limits }: EngineContext): Promise<Pixels> {
  const raw = draft
    .clone()
    .timeout({ seconds: Math.ceil(limits.timeoutMs / 1000) })
    .raw()
  const { data, info } = await rendering(() => raw.toBuffer({ resolveWithObject: true }))
  const { width, height, channels, pages = 1 } = info
  const pixels = { data, width, height: info.pageHeight ?? height, channels, pages }
  return channels === 1 ? withAlpha(pixels, raw) : pixels
}

/** Of what has been made grey, sharp gives one raw channel: its transparency has to be asked for. */
async function withAlpha(grey: Pixels, raw: Sharp): Promise<Pixels> {
  // Whether there is any is known by whether it can be had.
  const alpha = await rendering(() => raw.clone().extractChannel('alpha').toBuffer()).catch((error) => {
    if (/Cannot extract channel/.test(String(error))) return undefined
    throw error
  })
  if (!alpha) return grey
  const data = Buffer.allocUnsafe(2 * grey.data.length)
  for (let i = 0; i < grey.data.length; i += 1) {
    data[2 * i] = grey.data[i] as number
    data[2 * i + 1] = alpha[i] as number
  }
  return { ...grey, data, channels: 2 }
}

/** A draft of pixels. What they are not, the source still tells: the original's format, how long each frame is shown. */
function fromPixels(
  { data, width, height, channels, pages }: Pixels,
  source: ImageSource,
  { limits }: EngineContext,
): Opened<'sharp'> {
  const animated = pages > 1
  const raw = { width, height: height * pages, channels, ...(animated ? { pageHeight: height } : {}) }
  const draft = sharp(data, { raw, animated, limitInputPixels: pixelsWithin(limits) })
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

/** Several steps make a picture larger than any source may be: each has looked at the limit of what it makes. */
function pixelsWithin({ sourceMaxPixels, outputMaxPixels }: TransformLimits): number {
  return Math.max(sourceMaxPixels, outputMaxPixels)
}

/** Each by itself; they share the bytes of all. */
function framesOf(
  { data, pages, ...size }: Pixels,
  { timing: _, ...source }: ImageSource,
  context: EngineContext,
): Array<Opened<'sharp'>> {
  const bytes = data.length / pages
  return Array.from({ length: pages }, (_, i) => {
    const frame = data.subarray(i * bytes, (i + 1) * bytes)
    return fromPixels({ data: frame, pages: 1, ...size }, source, context)
  })
}

/** Where all frames go that are as large as this one. In place, if they fit: together they may have 200 MB. */
function roomFor({ data, ...size }: Pixels, { data: before, pages }: Pixels): Pixels {
  const bytes = data.length * pages
  return { ...size, pages, data: bytes === before.length ? before : Buffer.allocUnsafe(bytes) }
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
  { frames, upright, profile }: Pick<ImageOpening, 'frames' | 'upright' | 'profile'>,
): ImageSource {
  const { width, height } = upright ? metadata.autoOrient : metadata
  const pages = frames === 'all' && ANIMATED.has(metadata.format) ? (metadata.pages ?? 1) : 1
  const timing = { delay: metadata.delay ?? [], loop: metadata.loop ?? 0 }
  // One of CMYK or grey would not fit the pixels that are written, which are RGB in any case.
  const keepsProfile = profile === 'keep' && metadata.icc !== undefined && RGB.has(metadata.space)
  return {
    width,
    height,
    pages,
    hasAlpha: metadata.hasAlpha,
    format: formatName(metadata.format),
    ...(keepsProfile ? { keepsProfile } : {}),
    dpr: 1,
    ...(pages > 1 && timing.delay.length > 0 ? { timing } : {}),
  }
}

function withProfile(draft: Sharp, { keepsProfile }: ImageSource): Sharp {
  return keepsProfile ? draft.keepIccProfile() : draft
}

/** @throws Problem 400 for a page past the last one */
function checkPage(page: number, { pages = 1 }: Metadata): void {
  if (page <= pages) return
  const expected = `an integer from 1 to ${pages}, as many as this file has,`
  throw badParameter({ param: 'page', expected, received: String(page) })
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
    throw notDecodable('expected an image that can be decoded but this one cannot', cause)
  }
}

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
    if (/timeout/i.test(message)) throw takesTooLong(cause)
    if (/Input SVG image (will )?exceed/.test(message)) {
      const expected = 'expected an SVG of at most 32767 px a side but this one is larger: ask for a size'
      throw notTransformable(expected, cause)
    }
    const limit = FORMAT_LIMITS.find(({ refusal }) => refusal.test(message))
    throw limit ? formatTooSmall(limit, cause) : cause
  }
}
