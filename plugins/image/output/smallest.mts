import sharp, { type Sharp } from 'sharp'
import { readAll } from '../../../src/core/bytes/asset.ts'
import { PHOTO_FORMATS } from '../../../src/core/media/photos.ts'
import type { Opened, TransformContext } from '../../../src/core/plugin-api/plugin.ts'
import { type Encoding, encoded, type OutputFormat, withPalettes } from './encoders.mts'
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
  const { best, seen } = await smallestRender(draft, request, context)
  const original = await instead(best.size)
  if (original) return original
  const hasRoom = best.size <= room || isLarge(context)
  const fitting = hasRoom
    ? best
    : await withinRoom(best, seen ?? (await look(draft, context)), { room, context })
  return { draft: fitting.draft, source: facts }
}

interface Rendered {
  draft: Sharp
  output: OutputFormat
  quality: number
  size: number
}

/** Pixels, and what they show. */
interface Seen {
  pixels: Pixels
  look: PictureLook
}

/** @returns also the pixels, if they were needed */
async function smallestRender(
  image: Sharp,
  request: SmallestRequest,
  context: Context,
): Promise<{ best: Rendered; seen?: Seen }> {
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
  const seen = await look(image, context)
  const all: Rendered[] = []
  for (const output of outputs) {
    if (output === 'jpeg' && outputs.length > 1 && !seen.look.isOpaque) continue
    const quality = qualityOf(output)
    for (const how of await encodings(seen, { output, quality, context }))
      all.push(await rendered(seen, { output, how, context }))
  }
  return { best: smallestOf(all), seen }
}

/** The ways to encode these pixels of which the smallest one may win. */
async function encodings(
  seen: Seen,
  { output, quality, context }: { output: OutputFormat; quality: number; context: Context },
): Promise<Encoding[]> {
  const { options } = context
  const { isDrawing, isPlain } = seen.look
  const usual = { quality, options, isDrawing }
  if (output === 'webp' && isPlain) return [usual, { ...usual, lossless: true }]
  if (output !== 'png') return [usual]
  // Filters serve photos, and some drawings.
  if (!isDrawing) return [{ ...usual, filters: true }]
  return [usual, { ...usual, filters: true }, ...(await faithfulPalette(seen, usual, context))]
}

/** A palette if it looks the same, which is far smaller for drawings. Steps of grey may be few. */
async function faithfulPalette(
  { pixels, look }: Seen,
  usual: Encoding,
  { options, render }: Context,
): Promise<Encoding[]> {
  if (!withPalettes(options)) return []
  for (const colours of look.isGrey ? [16, 256] : [256]) {
    const how = { ...usual, colours }
    const palette = await render(encoded(draftOf(pixels, look), 'png', how))
    const { data, info } = await sharp(await readAll(palette))
      .raw()
      .toBuffer({ resolveWithObject: true })
    if (looksTheSame(pixels, { ...pixels, data, channels: info.channels })) return [how]
  }
  return []
}

/** Encodes an output that is too large once more, until it fits into this number of bytes. If none does, it stays. */
async function withinRoom(
  best: Rendered,
  seen: Seen,
  { room, context }: { room: number; context: Context },
): Promise<Rendered> {
  const { output } = best
  for (const how of smallerEncodings(best, seen, context)) {
    const attempt = await rendered(seen, { output, how, context })
    if (attempt.size <= room) return attempt
  }
  return best
}

/** From the best look to the fewest bytes. */
function smallerEncodings(
  { output, quality }: Rendered,
  { pixels, look: { isDrawing } }: Seen,
  { source, options }: Context,
): Encoding[] {
  const size = pixels.width * pixels.height
  const usual = { quality, options, isDrawing }
  if (!hasQuality(output)) {
    // A photo that was compressed with loss needs more bytes without.
    const mayHavePalette = LOSSLESS.has(source.format) && (output === 'gif' || withPalettes(options))
    if (!mayHavePalette || (!isDrawing && size > ATTEMPTS_MAX_PIXELS.paletteOfPhoto)) return []
    const palettes = isDrawing ? PALETTES : PALETTES_OF_PHOTOS
    return palettes.map((palette) => ({ ...usual, ...palette, dither: !isDrawing }))
  }
  if (output === 'avif' && size > ATTEMPTS_MAX_PIXELS.avif) return []
  const lowest = sameLook(LOWEST_LOOK, 'webp', output)
  const lower = LOWER.map((part) => Math.max(lowest, Math.round(quality * part))).filter(
    (one) => one < quality,
  )
  return [
    ...(output === 'webp' && isDrawing ? [{ ...usual, lossless: true }] : []),
    ...[...new Set(lower)].map((one) => ({ ...usual, quality: one })),
  ]
}

async function rendered(
  { pixels, look }: Seen,
  { output, how, context }: { output: OutputFormat; how: Encoding; context: Context },
): Promise<Rendered> {
  context.signal.throwIfAborted()
  const draft = encoded(draftOf(pixels, look), output, how)
  const { size } = await context.render(draft)
  return { draft, output, quality: how.quality, size }
}

function smallestOf(all: readonly Rendered[]): Rendered {
  return all.reduce((one, other) => (other.size < one.size ? other : one))
}

function draftOf({ data, width, height, channels }: Pixels, { isGrey, isOpaque }: PictureLook): Sharp {
  const draft = sharp(data, { raw: { width, height, channels: channels as 3 } })
  if (isOpaque && channels % 2 === 0) draft.removeAlpha()
  return isGrey ? draft.toColourspace('b-w') : draft
}

async function look(image: Sharp, { settle }: Context): Promise<Seen> {
  const { draft } = await settle(image)
  const { data, info } = await draft.raw().toBuffer({ resolveWithObject: true })
  const pixels = { data, width: info.width, height: info.height, channels: info.channels }
  return { pixels, look: lookOf(pixels) }
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
