import { type Asset, assetFromBytes, readAll, readWhole } from '../../../core/bytes/asset.ts'
import { FORMATS, formatOfMediaType, isText } from '../../../core/media/formats.ts'
import type { EngineContext } from '../../../core/plugin-api/plugin.ts'
import { epub } from '../documents/epub.ts'
import { pdf } from '../documents/pdf.ts'
import { text } from '../documents/text.ts'
import { decoding } from '../failures.ts'
import { checkPixels } from '../pixel-limits.ts'
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

/** Returns the decoder of a format that libvips does not read, by the name of the format. */
export function decoderOf(format: string): Decoder | undefined {
  return DECODERS[format]
}

/** Reads the facts of an image from the start of its file, if its decoder finds them there. */
export async function factsOf(
  decoder: Decoder,
  source: Asset,
  signal: AbortSignal,
): Promise<PictureFacts | undefined> {
  const isSmall = source.size <= HEAD_BYTES
  const head = isSmall
    ? await readAll(source, signal)
    : await readWhole(source, { range: { start: 0, end: HEAD_BYTES - 1 }, signal })
  return decoder.facts(head)
}

/**
 * Decodes an image of a format that libvips does not read, into a file that it reads. Undefined for other formats.
 *
 * @param page of a document, from 1
 * @throws Problem 400 for a page after the last one, 404 when the file has been deleted, 422 when it cannot be decoded or exceeds a limit
 */
export async function decoded(
  asset: Asset,
  page: number,
  { signal, limits }: Pick<EngineContext, 'signal' | 'limits'>,
): Promise<{ format: string; picture: Asset } | undefined> {
  const { name: format } = formatOfMediaType(asset.mediaType)
  const decoder = decoderOf(format)
  if (!decoder) return undefined
  const file = await readAll(asset, signal)
  const { bytes, mediaType } = await decoding(() =>
    decoder.decode(file, {
      maxPixels: limits.sourceMaxPixels,
      page,
      check: (size) => checkPixels({ ...size, pages: 1 }, limits),
    }),
  )
  return { format, picture: assetFromBytes(bytes, { mediaType, lastModified: asset.lastModified }) }
}
