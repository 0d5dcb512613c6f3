import sharp, { type Sharp } from 'sharp'
import { type Asset, readAll } from '../../src/core/bytes/asset.ts'
import { PHOTO_FORMATS } from '../../src/core/media/photos.ts'
import type { Opened, TransformContext } from '../../src/core/plugin-api/plugin.ts'
import { encoded, type OutputFormat, withPalettes } from './encoders.mts'
import { lookOf, looksTheSame, type PictureLook, type Pixels } from './picture-look.mts'
import { hasQuality, sameLook } from './quality.mts'
import { originalInstead, roomFor } from './room.mts'

/** How an image without a requested quality is encoded. */
export interface SmallestRequest {
  /** The formats to choose from. */
  outputs: readonly OutputFormat[]
  /** The usual quality of a format. */
  qualityOf: (output: OutputFormat) => number
  /** Any format that the client accepts will do: the original's own, too. */
  isAuto: boolean
}

type Context = TransformContext<'sharp'>

// Pixels of a larger image are not looked at: they would be held in memory twice.
const LOOK_MAX_PIXELS = 8_000_000
// A photo that is reduced to half its sides or less does not show the compression of its source.
const STRONG_REDUCTION = 2
// Parts of a quality with which the output did not fit. Each attempt takes as long as the first.
const LOWER = [0.8, 0.6, 0.4]
// Above these sizes, further attempts would take seconds: a photo of a megapixel as AVIF 0.3 s, with a palette 2 s.
const ATTEMPTS_MAX_PIXELS = { avif: 2_000_000, paletteOfPhoto: 500_000 }
const LOSSLESS = new Set(['png', 'gif'])
// Colours of a PNG that would be larger than its original.
const PALETTES_OF_PHOTOS = [100, 80, 60].map((paletteQuality) => ({ colours: 256, paletteQuality }))
const PALETTES = [...PALETTES_OF_PHOTOS, { colours: 256, paletteQuality: 30 }, { colours: 16 }]
// A quality of WebP below which a smaller file is not worth its look.
const LOWEST_LOOK = 30

/**
 * Encodes an image in the smallest way that looks like the usual quality of its formats, and in no more bytes than the
 * original has, unless it gets more pixels.
 */
export async function smallest(
  image: Sharp,
  request: SmallestRequest,
  context: Context,
): Promise<Opened<'sharp'>> {
  const { gainMap, ...facts } = context.source
  const instead = originalInstead(request, context)
  const room = roomFor(context)
  // A new pass has no gain map, which the renders would get too.
  const draft = gainMap ? (await context.settle(image)).draft : image
  const { best, pixels } = await smallestRender(draft, request, context)
  const original = await instead(best.size)
  if (original) return original
  const hasRoom = best.size <= room || isLarge(context)
  const fitting = hasRoom
    ? best
    : await withinRoom(best, pixels ?? (await pixelsOf(draft, context)), { room, context })
  return { draft: fitting.draft, source: facts }
}

interface Rendered {
  draft: Sharp
  output: OutputFormat
  quality: number
  size: number
}

async function smallestRender(
  image: Sharp,
  request: SmallestRequest,
  context: Context,
): Promise<{ best: Rendered; pixels?: Pixels }> {
  const { source, options } = context
  const { outputs } = request
  const [first] = outputs
  if (!first) throw new Error('there is no format to choose')
  const qualityOf = (output: OutputFormat) => cappedQuality(request.qualityOf(output), output, context)
  const isPhoto = source.format === 'jpeg' || PHOTO_FORMATS.has(source.format)
  if (isLarge(context) || (isPhoto && outputs.length === 1 && hasQuality(first))) {
    const quality = qualityOf(first)
    const draft = encoded(image, first, { quality, options })
    const { size } = await context.render(draft)
    return { best: { draft, output: first, quality, size } }
  }
  const pixels = await pixelsOf(image, context)
  const look = lookOf(pixels)
  const all: Rendered[] = []
  for (const output of outputs) {
    if (output === 'jpeg' && outputs.length > 1 && !look.isOpaque) continue
    const quality = qualityOf(output)
    for (const draft of await encodings(pixels, look, { output, quality, context })) {
      context.signal.throwIfAborted()
      const { size } = await context.render(draft)
      all.push({ draft, output, quality, size })
    }
  }
  return { best: all.reduce((one, other) => (other.size < one.size ? other : one)), pixels }
}

/** The ways to encode these pixels of which the smallest one may win. */
async function encodings(
  pixels: Pixels,
  look: PictureLook,
  { output, quality, context }: { output: OutputFormat; quality: number; context: Context },
): Promise<Sharp[]> {
  const { options } = context
  const { isDrawing, isPlain } = look
  const draft = () => draftOf(pixels, look)
  const lossy = () => encoded(draft(), output, { quality, options, isDrawing })
  if (output === 'png') return pngs(pixels, look, context)
  if (output === 'webp' && isPlain)
    return [lossy(), encoded(draft(), output, { quality, lossless: true, options })]
  return [lossy()]
}

/** A palette if it looks the same, which is far smaller for drawings. Filters serve photos, and some drawings. */
async function pngs(pixels: Pixels, look: PictureLook, context: Context): Promise<Sharp[]> {
  const { options } = context
  const png = (how: { filters?: boolean; colours?: number }) =>
    encoded(draftOf(pixels, look), 'png', { quality: 100, options, ...how })
  if (!look.isDrawing) return [png({ filters: true })]
  const plain = [png({}), png({ filters: true })]
  if (!withPalettes(options)) return plain
  // Steps of grey may be few.
  for (const colours of look.isGrey ? [16, 256] : [256]) {
    const palette = png({ colours })
    if (await isFaithful(await context.render(palette), pixels)) return [palette, ...plain]
  }
  return plain
}

async function isFaithful(asset: Asset, pixels: Pixels): Promise<boolean> {
  const { data, info } = await sharp(await readAll(asset))
    .raw()
    .toBuffer({ resolveWithObject: true })
  return looksTheSame(pixels, { ...pixels, data, channels: info.channels })
}

/** Lowers the quality until the output fits into this number of bytes, or looks poor. A PNG gets a palette. */
async function withinRoom(
  best: Rendered,
  pixels: Pixels,
  { room, context }: { room: number; context: Context },
): Promise<Rendered> {
  const { output, quality } = best
  const { options, render, signal } = context
  const look = lookOf(pixels)
  if (!hasQuality(output)) {
    // A photo that was compressed with loss needs more bytes without.
    const isLossless = LOSSLESS.has(context.source.format)
    const mayHavePalette = isLossless && (output === 'gif' || (output === 'png' && withPalettes(options)))
    let smallest = best
    const isQuick = look.isDrawing || pixels.width * pixels.height <= ATTEMPTS_MAX_PIXELS.paletteOfPhoto
    const palettes = look.isDrawing ? PALETTES : PALETTES_OF_PHOTOS
    for (const palette of mayHavePalette && isQuick ? palettes : []) {
      signal.throwIfAborted()
      const how = { quality, options, ...palette, dither: !look.isDrawing }
      const draft = encoded(draftOf(pixels, look), output, how)
      const { size } = await render(draft)
      if (size < smallest.size) smallest = { ...best, draft, size }
      if (size <= room) break
    }
    return smallest
  }
  if (output === 'avif' && pixels.width * pixels.height > ATTEMPTS_MAX_PIXELS.avif) return best
  if (output === 'webp' && look.isDrawing) {
    const draft = encoded(draftOf(pixels, look), output, { quality, lossless: true, options })
    const { size } = await render(draft)
    if (size <= room) return { ...best, draft, size }
  }
  let smallest = best
  for (const part of LOWER) {
    signal.throwIfAborted()
    const lower = Math.max(sameLook(LOWEST_LOOK, 'webp', output), Math.round(quality * part))
    if (lower >= quality || smallest.size <= room) break
    const how = { quality: lower, options, isDrawing: look.isDrawing }
    const draft = encoded(draftOf(pixels, look), output, how)
    const { size } = await render(draft)
    if (size < smallest.size) smallest = { ...best, draft, size }
  }
  return smallest
}

function draftOf({ data, width, height, channels }: Pixels, { isGrey, isOpaque }: PictureLook): Sharp {
  const draft = sharp(data, { raw: { width, height, channels: channels as 3 } })
  if (isOpaque && channels % 2 === 0) draft.removeAlpha()
  return isGrey ? draft.toColourspace('b-w') : draft
}

async function pixelsOf(image: Sharp, { settle }: Context): Promise<Pixels> {
  const { draft } = await settle(image)
  const { data, info } = await draft.raw().toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height, channels: info.channels }
}

function isLarge({ source }: Context): boolean {
  return source.width * source.height > LOOK_MAX_PIXELS
}

/** More than the quality of the source would only preserve its errors, unless it is reduced so much that these vanish. */
function cappedQuality(usual: number, output: OutputFormat, { source }: Context): number {
  const own = source.file?.quality
  if (own === undefined || !hasQuality(output) || source.reduction >= STRONG_REDUCTION) return usual
  return Math.min(usual, sameLook(own, 'jpeg', output))
}
