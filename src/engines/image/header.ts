import { open } from 'node:fs/promises'
import sharp, { type Metadata } from 'sharp'
import { boundedCache } from '../../core/budgets/bounded-cache.ts'
import { type Asset, assetFromBytes, readAll, readWhole } from '../../core/bytes/asset.ts'
import { formatOfMediaType, isAnimated } from '../../core/media/formats.ts'
import { stripDecompressionBombs } from './decompression-bombs.ts'
import { decoding } from './failures.ts'
import { APPLE_MAKER_NOTE } from './gain-map/apple.ts'
import { GAIN_MAP_XMP_NAMESPACE } from './gain-map/gains.ts'
import { TONE_MAPPED } from './gain-map/heif-gain-map.ts'
import { ISO_GAIN_MAP_SEGMENT } from './gain-map/jpeg.ts'
import { jpegQuality } from './jpeg-quality.ts'

// Enough to read the size of nearly every file. Smaller files are read once, and wait in memory for their turn. Less than the
// blocks that glibc maps separately, whose pages would be new for each image: see scripts/node.sh.
const HEADER_BYTES = 120 * 1024
// Its members, which are numbers and short texts.
const HEADER_OBJECT_BYTES = 1000
// The first box of an AVIF.
const BRANDS_BYTES = 256

const SRGB_SPACES = new Set(['srgb', 'b-w'])
// In the description of a profile: in ASCII, and in UTF-16.
const SRGB_NAMES = [Buffer.from('sRGB'), Buffer.from('sRGB', 'utf16le').swap16()]

/** An image whose header has been read. */
export interface HeadedImage {
  header: ImageHeader
  /** The image, in memory when it has been read completely. */
  asset: Asset
}

/** Facts about an image that need no decoding. */
export type ImageHeader = Omit<
  Metadata,
  'exif' | 'iptc' | 'xmp' | 'xmpAsString' | 'icc' | 'comments' | 'gainMap' | 'tifftagPhotoshop'
> & {
  hasProfile: boolean
  /** The colours are those of sRGB, with or without a profile. */
  isSrgb: boolean
  /** Of a JPEG: with which it was compressed, from 1 to 100. Undefined when its tables are not among the first bytes. */
  quality?: number
  /** Of a JPEG or AVIF. From the start of a file alone it is not certain. */
  hasGainMap: boolean
}

// The header of an image is needed before its turn and again when the turn has come, and most images have several sizes.
const known = boundedCache<ImageHeader>({
  maxBytes: 2_000_000,
  // The durations of the frames of an animation.
  bytesOf: ({ delay = [] }) => HEADER_OBJECT_BYTES + 8 * delay.length,
})

/**
 * Reads the header of an image, from the cache or from as many bytes as necessary.
 *
 * @throws Problem 404 when the file has been deleted, 422 for a file without a header or above a limit
 */
export async function readHeader(asset: Asset, signal: AbortSignal): Promise<HeadedImage> {
  const before = knownHeader(asset)
  if (before) return { header: before, asset }
  const read = await readNewHeader(asset, signal)
  const name = nameOf(asset)
  if (name !== undefined) known.set(name, read.header)
  return read
}

/** Returns the header of an image with this input. @throws Problem 422 for a file without a header */
export async function headerOf(asset: Asset, input: ImageInput): Promise<ImageHeader> {
  const before = knownHeader(asset)
  if (before) return before
  const header = await decoding(() => headerIn(input, asset))
  const name = nameOf(asset)
  if (asset.copyOf && name !== undefined) known.set(name, header)
  return header
}

function knownHeader(asset: Asset): ImageHeader | undefined {
  const name = nameOf(asset)
  return name === undefined ? undefined : known.get(name)
}

/** The name under which the header of an image is cached: its SHA-256, or the state of the file of a smaller copy. */
function nameOf({ sha256, copyOf, file, size, lastModified }: Asset): string | undefined {
  if (sha256 !== undefined || !copyOf || file === undefined) return sha256
  return `${file} ${size} ${lastModified.getTime()}`
}

/** An input of sharp: the path of a file, or bytes. */
export type ImageInput = string | Buffer

/**
 * Returns the input of sharp for an image. For a JPEG on disk it is the path, so that its bytes are never garbage of
 * this process: a JPEG has no decompression bombs. For any other image it is all bytes, without decompression bombs.
 *
 * @throws Problem 404 when the file has been deleted, 422 when it exceeds a limit
 */
export async function inputOf(asset: Asset, signal: AbortSignal): Promise<ImageInput> {
  return fileOf(asset) ?? stripDecompressionBombs(await readAll(asset, signal))
}

/**
 * The severity at which libvips stops. An unknown tag of a GeoTIFF is only a warning. A truncated file would be an
 * error, so errors are ignored for it: the part that exists is rendered.
 */
export function failOn({ truncated }: { truncated?: true | undefined }): 'none' | 'error' {
  return truncated ? 'none' : 'error'
}

/**
 * Reads the header of one page of an input.
 *
 * @param options.page from 1
 * @param options.density of an SVG, in pixels per inch
 * @throws errors of libvips
 */
export async function headerIn(
  input: ImageInput,
  { page = 1, density, truncated }: { page?: number; density?: number } & Pick<Asset, 'truncated'> = {},
): Promise<ImageHeader> {
  const paged = page > 1 ? { page: page - 1 } : {}
  // No limit for the size: nothing is decoded here.
  const metadata = await sharp(input, {
    ...paged,
    ...(density !== undefined ? { density } : {}),
    limitInputPixels: false,
    failOn: failOn({ truncated }),
  }).metadata()
  // The members that are left out may have megabytes.
  const { exif, iptc, xmp, xmpAsString, comments, icc, gainMap, tifftagPhotoshop, ...header } = metadata
  const start = metadata.format === 'jpeg' ? await startOf(input) : undefined
  const quality = start && jpegQuality(start)
  return {
    ...header,
    hasProfile: icc !== undefined,
    isSrgb:
      SRGB_SPACES.has(header.space) && (icc === undefined || SRGB_NAMES.some((name) => icc.includes(name))),
    ...(quality === undefined ? {} : { quality }),
    hasGainMap: announcesGainMap(input, metadata, start),
  }
}

/** The gain map itself is after the image. */
function announcesGainMap(
  input: ImageInput,
  { format, xmp, exif }: Metadata,
  start: Buffer | undefined,
): boolean {
  if (format === 'heif' && typeof input !== 'string')
    return input.subarray(0, BRANDS_BYTES).includes(TONE_MAPPED)
  if (!start) return false
  if (xmp?.includes(GAIN_MAP_XMP_NAMESPACE) || exif?.includes(APPLE_MAKER_NOTE)) return true
  return start.includes(ISO_GAIN_MAP_SEGMENT)
}

async function startOf(input: ImageInput): Promise<Buffer> {
  if (typeof input !== 'string') return input.subarray(0, HEADER_BYTES)
  const file = await open(input)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(HEADER_BYTES), 0, HEADER_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

async function readNewHeader(asset: Asset, signal: AbortSignal): Promise<HeadedImage> {
  const isSmall = asset.size <= HEADER_BYTES
  // To count the frames of an animation, the whole file must be read.
  if (!isSmall && !isAnimated(formatOfMediaType(asset.mediaType).name)) {
    const bytes = await readWhole(asset, { range: { start: 0, end: HEADER_BYTES - 1 }, signal })
    const header = await headerIn(stripDecompressionBombs(bytes), asset).catch(() => undefined)
    if (header) return { header, asset }
  }
  const file = isSmall ? undefined : fileOf(asset)
  // When the file has been deleted or is not an image, the bytes show the error.
  const ofFile = file && (await headerIn(file, asset).catch(() => undefined))
  if (ofFile) return { header: ofFile, asset }
  const bytes = await readAll(asset, signal)
  const header = await decoding(() => headerIn(stripDecompressionBombs(bytes), asset))
  return { header, asset: isSmall ? { ...asset, ...assetFromBytes(bytes, asset) } : asset }
}

function fileOf({ file, mediaType }: Asset): string | undefined {
  return mediaType === 'image/jpeg' ? file : undefined
}
