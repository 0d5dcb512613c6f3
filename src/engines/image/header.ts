import { LRUCache } from 'lru-cache'
import sharp, { type Metadata } from 'sharp'
import { type Asset, assetFromBytes, readAll, readWhole } from '../../core/bytes/asset.ts'
import { formatOfMediaType, isAnimated } from '../../core/media/formats.ts'
import { stripDecompressionBombs } from './decompression-bombs.ts'
import { decoding } from './failures.ts'

// Enough of nearly every file to tell its size. Smaller files are read once, and wait in memory for their turn.
const HEADER_BYTES = 128 * 1024

/** An image whose header has been read. */
export interface HeadedImage {
  header: ImageHeader
  /** The image, in memory when that was all of it. */
  asset: Asset
}

/** What is known of an image without decoding it. */
export type ImageHeader = Omit<Metadata, 'exif' | 'iptc' | 'xmp' | 'icc' | 'comments'> & {
  hasProfile: boolean
}

// By SHA-256. An image is looked at before its turn and opened when that has come, and most are made into several sizes.
const known = new LRUCache<string, ImageHeader>({ max: 1000 })

/**
 * Reads the header of an image that is not known yet, of as many bytes as it takes.
 *
 * @throws Problem 404 when it is gone by now, 422 for what has no header, or is past a limit
 */
export async function readHeader(asset: Asset, signal: AbortSignal): Promise<HeadedImage> {
  const before = knownHeader(asset)
  if (before) return { header: before, asset }
  const read = await readNewHeader(asset, signal)
  if (asset.sha256 !== undefined) known.set(asset.sha256, read.header)
  return read
}

/** The header of an image whose input this is. @throws Problem 422 for what has none */
export async function headerOf(asset: Asset, input: ImageInput): Promise<ImageHeader> {
  return knownHeader(asset) ?? decoding(() => headerIn(input, asset))
}

function knownHeader({ sha256 }: Asset): ImageHeader | undefined {
  return sha256 === undefined ? undefined : known.get(sha256)
}

/** What sharp reads: a file by its path, or bytes. */
export type ImageInput = string | Buffer

/**
 * What sharp is to read of an image: its file, where it has one, so that its bytes never become this process's garbage; else
 * all its bytes, made harmless. A file only of a JPEG, which holds nothing that would have to be taken out first.
 *
 * @throws Problem 404 when it is gone by now, 422 for one that is past a limit
 */
export async function inputOf(asset: Asset, signal: AbortSignal): Promise<ImageInput> {
  return fileOf(asset) ?? stripDecompressionBombs(await readAll(asset, signal))
}

/**
 * What makes libvips stop. An unknown tag of a GeoTIFF is only a warning. A truncated file would be an error, so errors are
 * ignored for it: it is rendered as far as it goes.
 */
export function failOn({ truncated }: { truncated?: true | undefined }): 'none' | 'error' {
  return truncated ? 'none' : 'error'
}

/**
 * The header in an input, of one page of it.
 *
 * @param options.page from 1
 * @param options.density of an SVG, in pixels per inch
 * @throws what libvips says
 */
export async function headerIn(
  input: ImageInput,
  { page = 1, density, truncated }: { page?: number; density?: number } & Pick<Asset, 'truncated'> = {},
): Promise<ImageHeader> {
  const paged = page > 1 ? { page: page - 1 } : {}
  // Whatever its size: nothing is decoded here.
  const metadata = await sharp(input, {
    ...paged,
    ...(density !== undefined ? { density } : {}),
    limitInputPixels: false,
    failOn: failOn({ truncated }),
  }).metadata()
  // What is left out may have megabytes.
  const { exif: _exif, iptc: _iptc, xmp: _xmp, comments: _comments, icc, ...header } = metadata
  return { ...header, hasProfile: icc !== undefined }
}

async function readNewHeader(asset: Asset, signal: AbortSignal): Promise<HeadedImage> {
  const file = fileOf(asset)
  // One that is gone, or is no picture, is told from its bytes.
  const ofFile = file && (await headerIn(file, asset).catch(() => undefined))
  if (ofFile) return { header: ofFile, asset }
  const isSmall = asset.size <= HEADER_BYTES
  // For the frames of an animation the whole file has to be looked through.
  if (!isSmall && !isAnimated(formatOfMediaType(asset.mediaType).name)) {
    const bytes = await readWhole(asset, { range: { start: 0, end: HEADER_BYTES - 1 }, signal })
    const header = await headerIn(stripDecompressionBombs(bytes), asset).catch(() => undefined)
    if (header) return { header, asset }
  }
  const bytes = await readAll(asset, signal)
  const header = await decoding(() => headerIn(stripDecompressionBombs(bytes), asset))
  return { header, asset: isSmall ? { ...asset, ...assetFromBytes(bytes, asset) } : asset }
}

function fileOf({ file, mediaType }: Asset): string | undefined {
  return mediaType === 'image/jpeg' ? file : undefined
}
