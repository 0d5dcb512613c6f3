import { boundedCache } from '../../../core/budgets/bounded-cache.ts'
import { type Asset, assetFromBytes, readAll, readStart } from '../../../core/bytes/asset.ts'
import { FORMATS, formatOfMediaType, isText } from '../../../core/media/formats.ts'
import type { EngineContext } from '../../../core/plugin-api/plugin.ts'
import { type Running, runningOf } from '../../programs/run.ts'
import { checkFrames } from '../decompression-bombs.ts'
import { epub } from '../documents/epub.ts'
import { pdf } from '../documents/pdf.ts'
import { text } from '../documents/text.ts'
import { decoding } from '../failures.ts'
import { checkPixels } from '../pixel-limits.ts'
import { apng, isAnimatedPng } from '../sequences/apng.ts'
import { sequence } from '../sequences/sequence.ts'
import { isSequence } from '../sequences/tracks.ts'
import type { GainMap, ImageOpening, Timing } from '../source.ts'
import { bmp } from './bmp.ts'
import type { Decoder, PictureFacts } from './decoder.ts'
import { heif } from './heif.ts'
import { ico } from './ico.ts'
import { jp2 } from './jp2.ts'
import { jxl } from './jxl.ts'
import { psd } from './psd.ts'

// By the names of the formats.
const DECODERS: Readonly<Record<string, Decoder>> = {
  heic: heif,
  bmp,
  ico,
  psd,
  jxl,
  jp2,
  j2c: jp2,
  jpx: jp2,
  pdf,
  epub,
  ...Object.fromEntries(FORMATS.filter(isText).map(({ name }) => [name, text])),
}

// A photo of an iPhone has its structure in the first 10 KB.
const HEAD_BYTES = 128 * 1024
// The first box of an image sequence.
const BRANDS_BYTES = 256

// The chunk that makes a PNG an animation usually is the second one. A profile may precede it.
const CHUNKS_BYTES = 4096

/** The formats of which some files are image sequences. */
export const SEQUENCE_FORMATS: ReadonlySet<string> = new Set(['avif', 'heic', 'png'])

/** Returns the decoder of still images of a format that libvips does not read, by the name of the format. */
export function usualDecoderOf(format: string): Decoder | undefined {
  return DECODERS[format]
}

/**
 * Returns the decoder of a file that libvips does not read.
 *
 * @param options.isFirst whether only the first frame is used, which libvips reads from an animated PNG
 * @throws Problem 404 when the file has been deleted
 */
export async function decoderOf(
  source: Asset,
  signal: AbortSignal,
  { isFirst = false } = {},
): Promise<Decoder | undefined> {
  const { name } = formatOfMediaType(source.mediaType)
  const isSequence = SEQUENCE_FORMATS.has(name) && !(name === 'png' && isFirst)
  if (!isSequence || !(await isOfSequence(source, signal))) return DECODERS[name]
  return name === 'png' ? apng : sequence
}

// By SHA-256. Each transformation asks twice: for its forecast, and to open the file.
const knownSequences = boundedCache<boolean>({ maxBytes: 500_000 })

async function isOfSequence(source: Asset, signal: AbortSignal): Promise<boolean> {
  const { sha256 } = source
  const before = sha256 === undefined ? undefined : knownSequences.get(sha256)
  if (before !== undefined) return before
  const start = (maxBytes: number) => readStart(source, { maxBytes, signal })
  const isPng = source.mediaType === 'image/png'
  const found = isPng
    ? (isAnimatedPng(await start(CHUNKS_BYTES)) ?? isAnimatedPng(await start(HEAD_BYTES)) ?? false)
    : isSequence(await start(BRANDS_BYTES))
  if (sha256 !== undefined) knownSequences.set(sha256, found)
  return found
}

/** Reads the facts of an image from the start of its file, if its decoder finds them there. */
export async function factsOf(
  decoder: Decoder,
  source: Asset,
  signal: AbortSignal,
): Promise<PictureFacts | undefined> {
  return decoder.facts(await readStart(source, { maxBytes: HEAD_BYTES, signal }))
}

/** An image that a decoder has decoded. */
export interface DecodedImage {
  /** The name of the format of its source: `heic`. */
  format: string
  /** A file that libvips reads. */
  picture: Asset
  /** For an animation, whose frames are the pages of the file. */
  timing?: Timing
  /** The gain map of a photo, if it is requested. */
  gainMap?: GainMap
}

/**
 * Decodes an image of a format that libvips does not read, into a file that it reads. Undefined for other formats.
 *
 * @param context.env the complete environment of a program that decodes
 * @throws Problem 400 for a page after the last one, 404 when the file has been deleted, 422 when it cannot be decoded or exceeds a limit
 */
export async function decoded(
  asset: Asset,
  { page, frames, gainMap: opened }: Pick<ImageOpening, 'page' | 'frames' | 'gainMap'>,
  { signal, limits, env }: Pick<EngineContext, 'signal' | 'limits'> & Pick<Running, 'env'>,
): Promise<DecodedImage | undefined> {
  const { name: format } = formatOfMediaType(asset.mediaType)
  const decoder = await decoderOf(asset, signal, { isFirst: page === 1 && frames === 'first' })
  if (!decoder) return undefined
  const file = await readAll(asset, signal)
  const { bytes, mediaType, timing, gainMap } = await decoding(() =>
    decoder.decode(file, {
      maxPixels: limits.sourceMaxPixels,
      page,
      frames: page > 1 ? 'first' : frames,
      gainMap: opened,
      check({ width, height, pages = 1 }) {
        checkFrames({ pages })
        checkPixels({ width, height, pages }, limits)
      },
      programs: runningOf(limits, { signal, env }),
    }),
  )
  const picture = assetFromBytes(bytes, { mediaType, lastModified: asset.lastModified })
  return { format, picture, ...(timing ? { timing } : {}), ...(gainMap ? { gainMap } : {}) }
}
