import {
  type ByteOrder,
  byteOrder,
  DIRECTORY_BYTES,
  numberAt,
  readDirectory,
  type TiffDirectory,
} from '../../../core/media/tiff-directory.ts'
import type { Candidate, Findings } from './candidates.ts'
import { EXIF_MAX_BYTES } from './jpeg-head.ts'
import type { Parts } from './parts.ts'

const PANASONIC_JPEG = 46
const STRIP_OFFSETS = 273
const ORIENTATION = 274
const STRIP_BYTES = 279
const SUB_DIRECTORIES = 330
const JPEG_AT = 513
const JPEG_BYTES = 514
const EXIF_DIRECTORY = 34665
const MAKER_NOTE = 37500
// Of Olympus.
const CAMERA_SETTINGS = 8224
const PREVIEW_AT = 257
const PREVIEW_BYTES = 258

// Directories of one file. A DNG has up to ten previews.
const MAX_DIRECTORIES = 16

/** Where a TIFF begins in its file, whose positions count from there. */
interface Tiff {
  parts: Parts
  base: number
  order: ByteOrder
}

/**
 * Finds the JPEGs in the directories of a RAW file that begins like a TIFF, whatever its version number is: Olympus and
 * Panasonic use other ones.
 *
 * @param base the position of the TIFF in the file
 */
export async function findingsOfTiff(parts: Parts, base = 0): Promise<Findings> {
  const head = await parts.read(base, 8)
  const order = byteOrder(head)
  if (!order || head.length < 8) return { candidates: [] }
  const tiff = { parts, base, order }
  const candidates: Candidate[] = []
  let hasOrientation = false
  const seen = new Set<number>()
  const waiting = [numberAt(head, 4, { size: 4, order })]
  for (const at of waiting) {
    if (at === 0 || seen.has(at) || seen.size >= MAX_DIRECTORIES) continue
    seen.add(at)
    const directory = await directoryOf(tiff, at)
    if (seen.size === 1) hasOrientation = directory.fields.has(ORIENTATION) && at < EXIF_MAX_BYTES / 2
    candidates.push(...(await candidatesIn(tiff, directory)))
    waiting.push(directory.next, ...(await numbersOf(tiff, directory, SUB_DIRECTORIES)))
    const [exif] = await numbersOf(tiff, directory, EXIF_DIRECTORY)
    if (exif) candidates.push(...(await candidatesOfOlympus(tiff, await directoryOf(tiff, exif))))
  }
  return { candidates, ...(hasOrientation ? { exifAt: base } : {}) }
}

async function candidatesIn(tiff: Tiff, directory: TiffDirectory): Promise<Candidate[]> {
  const pairs = [
    [JPEG_AT, JPEG_BYTES],
    // A preview is one strip. The strips of raw data are no JPEG, or a lossless one, which is ignored later.
    [STRIP_OFFSETS, STRIP_BYTES],
  ] as const
  const found: Candidate[] = []
  for (const [atTag, lengthTag] of pairs) {
    const [[at, another], [length]] = [
      await numbersOf(tiff, directory, atTag),
      await numbersOf(tiff, directory, lengthTag),
    ]
    if (at && length && another === undefined) found.push({ at: tiff.base + at, length })
  }
  const whole = directory.fields.get(PANASONIC_JPEG)
  if (whole?.size === 1) found.push({ at: whole.at, length: whole.count })
  return found
}

/** The preview of an ORF is named only in the notes of Olympus, whose positions count from their own start. */
async function candidatesOfOlympus(tiff: Tiff, exif: TiffDirectory): Promise<Candidate[]> {
  const note = exif.fields.get(MAKER_NOTE)
  if (!note) return []
  const start = (await tiff.parts.read(note.at, 16)).toString('latin1')
  const signature = ['OLYMPUS\0II', 'OM SYSTEM\0\0\0II'].find((each) => start.startsWith(each))
  if (!signature) return []
  const own = { ...tiff, base: note.at, order: 'le' as const }
  // A version of two bytes follows.
  const settings = await numbersOf(own, await directoryOf(own, signature.length + 2), CAMERA_SETTINGS)
  if (!settings[0]) return []
  const directory = await directoryOf(own, settings[0])
  const [at] = await numbersOf(own, directory, PREVIEW_AT)
  const [length] = await numbersOf(own, directory, PREVIEW_BYTES)
  return at && length ? [{ at: note.at + at, length }] : []
}

/** Reads the directory at a position of the TIFF. The positions of its fields are those of the file. */
async function directoryOf({ parts, base, order }: Tiff, at: number): Promise<TiffDirectory> {
  const { fields, next } = readDirectory(await parts.read(base + at, DIRECTORY_BYTES), { at, order })
  const moved = [...fields].map(([tag, field]) => [tag, { ...field, at: base + field.at }] as const)
  return { fields: new Map(moved), next }
}

/** The first values of a field of integers, at most eight. */
async function numbersOf({ parts, order }: Tiff, { fields }: TiffDirectory, tag: number): Promise<number[]> {
  const field = fields.get(tag)
  if (!field || field.size > 4) return []
  const { at, size, count } = field
  const bytes = await parts.read(at, size * Math.min(count, 8))
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, i) =>
    numberAt(bytes, i * size, { size, order }),
  )
}
