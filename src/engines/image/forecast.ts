import type { Asset, FullImage } from '../../core/bytes/asset.ts'
import { clippedBox, type Size } from '../../core/geometry/box.ts'
import { formatOfMediaType, writesAnimation } from '../../core/media/formats.ts'
import { COPY_SIDE } from '../../core/media/smaller-copies.ts'
import type { Forecast } from '../../core/plugin-api/forecast.ts'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import type { ForecastStep } from '../../core/plugin-api/plugin.ts'
import type { Decoder, PictureFacts } from './decoders/decoder.ts'
import { decoderOf, factsOf } from './decoders/decoders.ts'
import { checkFrames } from './decompression-bombs.ts'
import { excerptOf } from './excerpts/excerpt.ts'
import { type ImageHeader, readHeader } from './header.ts'
import { checkBytes, checkComplete, checkPixels } from './pixel-limits.ts'
import { reducibleOf, reducibleOfDecoded } from './smaller-copies/reducible.ts'

// Memory per pixel in addition to the file, in bytes, measured with 12 and 50 MP and rounded up. For sources that
// cannot be read row by row.
const INTERLACED = 6
const TURNED = 4
const OF_SOURCE: Readonly<Record<string, number>> = { png: 2, webp: 7, gif: 4, avif: 19, tiff: 4 }
const OF_OUTPUT: Readonly<Record<string, number>> = {
  jpeg: 7,
  png: 4,
  webp: 14,
  gif: 14,
  avif: 35,
  tiff: 3,
}
const OF_LOSSLESS_WEBP = 42
const OF_PASS = 4
// A truncated PNG is compressed again, at a lower level.
const OF_TRUNCATED = 3
// For an interlaced one, all pixels are held, compressed again and read. In bytes per byte of a channel.
const OF_TRUNCATED_PASSES = 10
// libvips's own pixels, and the pixels that are rendered from them: one or two bytes per channel.
const OF_HELD_SOURCE = 6
// Each separate frame takes 5 ms, however small it is: a thousand frames take half of the time limit of work that may
// hang.
const MAX_FRAMES_HERE = 1000
// The AVIF of a thumbnail takes 60 to 150 ms, and up to 10 s with the highest effort. Four in processes of their own take 500 MB,
// here 160.
const MAX_AVIF_PIXELS_HERE = 300_000

// The time for these formats depends little on their size, and cannot be interrupted: librsvg draws, libtiff walks
// half a million directories (7 s for the header alone), libaom encodes 12 MP in 10 s.
const HANGING_SOURCES = new Set(['svg', 'tiff', 'avif'])
// What f=auto becomes: AVIF unless the image is large, so it is treated as AVIF.
const OF_AUTO: Readonly<Record<string, string>> = { auto: 'avif', 'auto-avif': 'avif', 'auto-webp': 'webp' }
// Pixels of all frames. A GIF takes a second of CPU time per million pixels, and cannot be interrupted either.
const MAX_GIF_PIXELS_HERE = 1_000_000

/**
 * Assumed size of an SVG, whose own size only the renderer knows, of a TIFF, whose header can cost as much as the
 * whole file, and of an image of another decoder without a header in its first bytes.
 */
const UNREAD: Readonly<Record<string, Size>> & { other: Size } = {
  svg: { width: 5000, height: 5000 },
  tiff: { width: 8000, height: 6000 },
  other: { width: 8000, height: 6000 },
}

/**
 * Estimates the cost of these steps for an image: from its header, and from the steps' values by their public names.
 *
 * @throws Problem 422 for a source that exceeds a limit, judged by its header alone
 */
export async function forecastImage(
  source: Asset,
  steps: readonly ForecastStep[],
  { limits, signal }: { limits: TransformLimits; signal: AbortSignal },
): Promise<Forecast> {
  const excerpt = await excerptOf(source, signal)
  // From here on, the excerpt is the source: the rest of the file is never read.
  if (excerpt) return forecastImage(excerpt, steps, { limits, signal })
  checkBytes(source, limits)
  checkComplete(source, limits)
  const format = formatOfMediaType(source.mediaType).name
  const values = Object.assign({}, ...steps.map(({ params }) => params)) as RequestedValues
  // Without steps: an image that is laid over another. Its first frame is drawn.
  const defaultOutput = steps.length === 0 ? 'png' : (source.copyOf?.format ?? format)
  const output = OF_AUTO[values.f ?? ''] ?? values.f ?? defaultOutput
  const isFirst = (values.page ?? 1) === 1 && (values.a === '0' || !writesAnimation(output))
  const decoder = await decoderOf(source, signal, { isFirst })
  const facts = decoder && (await factsOf(decoder, source, signal))
  // A copy has at most the size of the image that it replaces, and is one of our own files.
  const unread = source.copyOf ?? facts ?? decoder?.assumed ?? UNREAD[decoder ? 'other' : format]
  const read = unread ? undefined : await readHeader(source, signal)
  const { width, height } = unread ?? read?.header.autoOrient ?? { width: 0, height: 0 }
  const isStill = values.a === '0' || values.page !== undefined || !writesAnimation(output)
  const frames = facts ? framesOf(facts) : (read?.header.pages ?? 1)
  const pages = isStill ? 1 : frames
  const pixels = source.copyOf ? Math.min(width * height, COPY_SIDE ** 2) : width * height * pages
  // An unknown number of frames is checked when the file is opened.
  const counted = facts?.pages === 'unknown' ? 1 : pages
  if (facts) checkFrames({ pages: counted })
  if (facts || !unread) checkPixels({ width, height, pages: counted }, limits)
  const opened = { format: source.copyOf?.format ?? format, pages }
  const held = steps.map(({ plugin, params }) => plugin.holds?.(params as never, opened))
  const count = (what: 'source' | 'outcome') => held.filter((each) => each === what).length
  const passes = steps.filter(({ plugin }) => plugin.newPass).length + count('outcome')
  const memoryBytes = steps.reduce((sum, { plugin }) => sum + (plugin.memoryBytes ?? 0), 0)
  const bytesPerChannel = read?.header.depth === 'uchar' ? 1 : 2
  const isDeinterlaced = format === 'png' && source.truncated === true && read?.header.isProgressive === true
  const drawn = Math.min(drawnPixels({ width, height }, values, limits) * pages, limits.outputMaxPixels)
  const stillImage = decoder && frames === 1 ? fullImageOf(facts, decoder, format) : undefined
  const reducible = stillImage
    ? reducibleOfDecoded(stillImage, steps, { limits, page: values.page })
    : read && reducibleOf(read.header, steps, { source, output, limits })
  return {
    bytes:
      source.size * (source.truncated ? OF_TRUNCATED : 1) +
      pixels *
        ((decoder?.bytesPerPixel ?? ofSource(format, read?.header)) +
          bytesPerChannel * OF_HELD_SOURCE * count('source')) +
      (isDeinterlaced ? pixels * bytesPerChannel * OF_TRUNCATED_PASSES : 0) +
      drawn * (ofOutput(output, values) + OF_PASS * passes + ofWatermarks(values)) +
      memoryBytes,
    mayHang:
      decoder !== undefined ||
      memoryBytes > 0 ||
      (!source.copyOf && HANGING_SOURCES.has(format)) ||
      (output === 'avif' && drawn > MAX_AVIF_PIXELS_HERE) ||
      (output === 'gif' && drawn > MAX_GIF_PIXELS_HERE) ||
      // JavaScript assembles its pixels.
      isDeinterlaced ||
      (pages > MAX_FRAMES_HERE && passes + count('source') > 0),
    source: read?.asset ?? source,
    ...(reducible ? { reducible } : {}),
  }
}

/** The full size of an image that a decoder reads. Without facts it is at most the size that the decoder assumes, if any. */
function fullImageOf(
  facts: PictureFacts | undefined,
  { assumed }: Decoder,
  format: string,
): FullImage | undefined {
  const size = facts ?? assumed
  return size && { width: size.width, height: size.height, format, ...(facts ? {} : { isBound: true }) }
}

/** The frames of an image. When they are not counted: as many as an image without a header is assumed to have. */
function framesOf({ pages = 1, width, height }: PictureFacts): number {
  if (pages !== 'unknown') return pages
  const { other } = UNREAD
  return Math.max(2, Math.ceil((other.width * other.height) / (width * height)))
}

/**
 * The upright size of an image, from its header. Undefined for a format whose header does not have it, or costs too much.
 *
 * @throws Problem 404, 422 as {@link forecastImage}
 */
export async function sizeInHeader(
  source: Asset,
  { limits, signal }: { limits: TransformLimits; signal: AbortSignal },
): Promise<Size | undefined> {
  checkBytes(source, limits)
  const { name } = formatOfMediaType(source.mediaType)
  const decoder = await decoderOf(source, signal, { isFirst: true })
  if (decoder) return factsOf(decoder, source, signal)
  if (UNREAD[name]) return undefined
  const { header } = await readHeader(source, signal)
  const { width, height } = header.autoOrient
  // A compressed SVG has a name of its own.
  return header.format === 'svg' ? undefined : { width, height }
}

const WATERMARKS = ['wm', 'wm2', 'wm3'] as const

/** Parameters that determine the cost of an image, of any plugin. */
interface RequestedValues {
  w?: number
  h?: number
  dpr?: number
  f?: string
  fit?: string
  enlarge?: unknown
  crop?: readonly number[]
  trim?: unknown
  rotate?: number
  pad?: readonly number[]
  lossless?: unknown
  wm?: string
  wm_size?: number
  wm2?: string
  wm2_size?: number
  wm3?: string
  wm3_size?: number
  a?: string
  page?: number
}

function ofSource(format: string, header: ImageHeader | undefined): number {
  const turned = (header?.orientation ?? 1) > 1 ? TURNED : 0
  const interlaced = header?.isProgressive ? INTERLACED : 0
  return Math.max(OF_SOURCE[format] ?? 0, turned, interlaced)
}

function ofOutput(format: string, { lossless }: RequestedValues): number {
  if (format === 'webp' && lossless) return OF_LOSSLESS_WEBP
  return OF_OUTPUT[format] ?? OF_OUTPUT.png ?? 0
}

/** Each watermark has the requested width, in percent, and is at most as high as the image. */
function ofWatermarks(values: RequestedValues): number {
  const sizes = WATERMARKS.map((wm) => (values[wm] === undefined ? 0 : (values[`${wm}_size`] ?? 100)))
  return (OF_PASS * sizes.reduce((sum, size) => sum + size, 0)) / 100
}

/**
 * Pixels of one frame, with what is added around it: at most the requested size, and at most the source's size
 * without enlargement.
 */
function drawnPixels(source: Size, values: RequestedValues, { outputMaxSide }: TransformLimits): number {
  const { dpr = 1, rotate = 0, pad = [] } = values
  // The box around a rotated square has up to twice its pixels.
  const resized = resizedPixels(source, values, outputMaxSide) * (rotate % 90 === 0 ? 1 : 2)
  const border = 2 * dpr * Math.max(0, ...pad)
  if (border === 0) return resized
  // For a given number of pixels, the longest shape has the longest border.
  const side = Math.min(outputMaxSide, resized)
  return Math.min(outputMaxSide, side + border) * Math.min(outputMaxSide, resized / side + border)
}

function resizedPixels(source: Size, values: RequestedValues, maxSide: number): number {
  const { w, h, dpr = 1, fit, enlarge, crop, trim } = values
  const [left = 0, top = 0, across = 0, down = 0] = crop ?? []
  const part = crop && clippedBox({ left, top, width: across, height: down }, source)
  const { width, height } = part ?? source
  if (w === undefined && h === undefined) return width * height
  const ratio = width / Math.max(1, height)
  const isWithinBox = fit !== 'outside' || w === undefined || h === undefined
  // After a trim, the aspect ratio is unknown.
  const isTrimmed = trim !== undefined
  const mostAcross = (isWithinBox && (w ?? (isTrimmed ? undefined : (h ?? 0) * ratio))) || maxSide
  const mostDown = (isWithinBox && (h ?? (isTrimmed ? undefined : (w ?? 0) / ratio))) || maxSide
  const box = Math.min(maxSide, mostAcross * dpr) * Math.min(maxSide, mostDown * dpr)
  return enlarge || fit === 'contain' ? box : Math.min(box, width * height)
}
