import type { Candidate, Findings } from './candidates.ts'
import type { Parts } from './parts.ts'
import { findingsOfTiff } from './raw-tiff.ts'

interface Box {
  type: string
  /** The position of its content, and the position after it, in bytes. */
  at: number
  end: number
}

// The notes of Canon, in `moov`, and the box of the preview.
const CANON = '85c0b687820f11e08111f4ce462b6a48'
const PREVIEW = 'eaf42b5e1c984b88b9fbb7dc406e4d16'
const UUID_BYTES = 16
// Boxes that are read at one level. A CR3 has up to ten.
const MAX_BOXES = 32

/**
 * Finds the JPEGs in a CR3, which is an MP4: a track with the whole photo, a smaller preview, and the directory with the
 * orientation.
 */
export async function findingsOfCr3(parts: Parts): Promise<Findings> {
  const top = await boxesIn(parts, { at: 0, end: parts.size })
  const candidates: Candidate[] = []
  let exifAt: number | undefined
  for (const box of top.filter(({ type }) => type === 'moov')) {
    for (const inner of await boxesIn(parts, box)) {
      if (inner.type === 'trak') candidates.push(...(await samplesOf(parts, inner)))
      if (inner.type === CANON) exifAt ??= await exifIn(parts, inner)
    }
  }
  for (const { at, end } of top.filter(({ type }) => type === PREVIEW)) {
    // Eight other bytes precede the box.
    for (const inner of await boxesIn(parts, { at: at + 8, end })) {
      if (inner.type === 'PRVW') candidates.push(...(await previewIn(parts, inner)))
    }
  }
  return { candidates, ...(exifAt === undefined ? {} : { exifAt }) }
}

async function exifIn(parts: Parts, canon: Box): Promise<number | undefined> {
  const directory = (await boxesIn(parts, canon)).find(({ type }) => type === 'CMT1')
  return directory && (await findingsOfTiff(parts, directory.at)).exifAt
}

/** The first sample of a track. The tracks of raw data are no JPEG, which is noticed later. */
async function samplesOf(parts: Parts, track: Box): Promise<Candidate[]> {
  let level: Box[] = [track]
  for (const type of ['mdia', 'minf', 'stbl']) {
    const [outer] = level
    level = outer ? (await boxesIn(parts, outer)).filter((box) => box.type === type) : []
  }
  const [table] = level
  const boxes = table ? await boxesIn(parts, table) : []
  const sizes = boxes.find(({ type }) => type === 'stsz')
  const places = boxes.find(({ type }) => type === 'co64')
  if (!sizes || !places) return []
  const size = await parts.read(sizes.at, 12)
  const place = await parts.read(places.at, 16)
  if (size.length < 12 || place.length < 16) return []
  return [{ at: Number(place.readBigUInt64BE(8)), length: size.readUInt32BE(4) }]
}

async function previewIn(parts: Parts, { at }: Box): Promise<Candidate[]> {
  const head = await parts.read(at, 16)
  return head.length < 16 ? [] : [{ at: at + 16, length: head.readUInt32BE(12) }]
}

/** The boxes of a part of the file. The type of a box with a UUID is the UUID. */
async function boxesIn(parts: Parts, { at, end }: Pick<Box, 'at' | 'end'>): Promise<Box[]> {
  const boxes: Box[] = []
  for (let start = at; start + 8 <= end && boxes.length < MAX_BOXES; ) {
    const head = await parts.read(start, 16 + UUID_BYTES)
    if (head.length < 8) break
    const size = head.readUInt32BE(0)
    const isLong = size === 1
    if (isLong && head.length < 16) break
    // A size of 0 reaches to the end.
    const length = isLong ? Number(head.readBigUInt64BE(8)) : size || end - start
    const own = isLong ? 16 : 8
    if (length < own) break
    const name = head.toString('latin1', 4, 8)
    const isUuid = name === 'uuid'
    boxes.push({
      type: isUuid ? head.toString('hex', own, own + UUID_BYTES) : name,
      at: start + own + (isUuid ? UUID_BYTES : 0),
      end: Math.min(end, start + length),
    })
    start += length
  }
  return boxes
}
