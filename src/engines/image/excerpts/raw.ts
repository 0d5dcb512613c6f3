import { boundedCache } from '../../../core/budgets/bounded-cache.ts'
import type { Asset } from '../../../core/bytes/asset.ts'
import { joinedAsset } from '../../../core/bytes/joined-asset.ts'
import type { Candidate, Findings } from './candidates.ts'
import { EXIF_MAX_BYTES, jpegHead, withExif } from './jpeg-head.ts'
import { HEAD_BYTES, type Parts, partsOf, withoutPreview } from './parts.ts'
import { findingsOfCr3 } from './raw-cr3.ts'
import { findingsOfRaf } from './raw-raf.ts'
import { findingsOfTiff } from './raw-tiff.ts'

// A photo has up to four previews. Raw data that is no JPEG may be larger than all of them.
const MAX_TRIES = 8

type Preview = Candidate & Pick<Findings, 'exifAt'>

// By SHA-256, as most photos have several sizes.
const known = boundedCache<Preview>({ maxBytes: 500_000, bytesOf: () => 100 })

/**
 * Finds the largest JPEG that a camera has stored in its RAW file, with the orientation and other facts of the photo.
 *
 * @throws Problem 404 when the file has been deleted, 422 for a file without a preview
 */
export async function previewOf(
  asset: Asset,
  { format, signal }: { format: string; signal: AbortSignal },
): Promise<Asset> {
  const parts = partsOf(asset, signal)
  const before = asset.sha256 === undefined ? undefined : known.get(asset.sha256)
  const preview = before ?? (await largest(parts, format))
  if (asset.sha256 !== undefined) known.set(asset.sha256, preview)
  const { at, length, exifAt } = preview
  const [start, exif] = await Promise.all([
    parts.read(at, Math.min(length, HEAD_BYTES)),
    exifAt === undefined ? undefined : parts.read(exifAt, EXIF_MAX_BYTES),
  ])
  const head = jpegHead(start)
  const rest = length > start.length ? { start: at + start.length, end: at + length - 1 } : undefined
  return joinedAsset(head && exif ? withExif(start, head, exif) : start, {
    file: asset,
    rest,
    mediaType: 'image/jpeg',
  })
}

async function largest(parts: Parts, format: string): Promise<Preview> {
  const { candidates, ...others } = await findingsOf(parts, format)
  const fitting = candidates
    .filter(({ at, length }) => at > 0 && length > 0 && at + length <= parts.size)
    .sort((a, b) => b.length - a.length)
  for (const candidate of fitting.slice(0, MAX_TRIES)) {
    const { at, length } = candidate
    if (jpegHead(await parts.read(at, Math.min(length, HEAD_BYTES)))) return { ...candidate, ...others }
  }
  throw withoutPreview()
}

function findingsOf(parts: Parts, format: string): Promise<Findings> {
  if (format === 'cr3') return findingsOfCr3(parts)
  return format === 'raf' ? findingsOfRaf(parts) : findingsOfTiff(parts)
}
