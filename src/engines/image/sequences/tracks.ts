import { type Box, boxesIn, contentOf, FULL, unlessCut } from '../decoders/boxes.ts'
import type { PictureFacts } from '../decoders/decoder.ts'
import { statesAlpha } from '../decoders/heif-values.ts'

// Of image sequences, in the first box of their files.
const BRANDS = new Set(['avis', 'msf1', 'hevc', 'hevx'])
const CODECS = new Set(['av01', 'hvc1', 'hev1'])
// The fields of a sample entry before its boxes.
const ENTRY_BYTES = 78
/** The duration of an endless track, by the bytes of the field. */
export const FOREVER = { 4: 0xffff_ffff, 8: Number(0xffff_ffff_ffff_ffffn) } as const

/** The animation of an image sequence: a track of frames, perhaps with a second track that is its transparency. */
export interface Sequence extends PictureFacts {
  /** The number of frames. */
  pages: number
  /** The places of the tracks in the file, from 0. */
  tracks: { colours: number; alpha?: number }
  /** The colours, as a box `colr`; empty without it. */
  colours: Buffer
  /** How often the animation is shown; 0: forever. */
  loop: number
  /** Returns the durations of the frames in milliseconds. */
  delays(): number[]
}

/** Whether a file is an image sequence, from its first bytes. @see ISO/IEC 23008-12, section 7 */
export function isSequence(head: Buffer): boolean {
  const [first] = boxesIn(head)
  if (first?.type !== 'ftyp') return false
  const brands = first.content.toString('latin1').match(/.{4}/gs) ?? []
  return brands.some((brand, i) => i !== 1 && BRANDS.has(brand))
}

/** Reads the tracks of an image sequence, without decoding. Undefined when these bytes do not have them. */
export function sequenceIn(bytes: Buffer): Sequence | undefined {
  return unlessCut(() => sequenceOf(tracksIn(bytes)))
}

function sequenceOf(all: ReturnType<typeof tracksIn>): Sequence | undefined {
  const main = all.find(({ handler }) => handler === 'pict' || handler === 'vide')
  if (!main || main.pages === 0 || main.width === 0 || main.height === 0) return undefined
  const { pages, width, height, colours, loop, delays } = main
  const alpha = all.find((track) => track.handler === 'auxv' && track.isAlpha && track.pages === pages)
  const tracks = { colours: main.place, ...(alpha ? { alpha: alpha.place } : {}) }
  return { width, height, hasAlpha: alpha !== undefined, pages, tracks, colours, loop, delays }
}

function tracksIn(bytes: Buffer) {
  return boxesIn(contentOf(boxesIn(bytes), 'moov'))
    .filter(({ type }) => type === 'trak')
    .flatMap(({ content }, place) => {
      const track = trackOf(boxesIn(content))
      return track ? [{ ...track, place }] : []
    })
}

function trackOf(boxes: readonly Box[]) {
  const media = boxesIn(contentOf(boxes, 'mdia'))
  const table = boxesIn(contentOf(boxesIn(contentOf(media, 'minf')), 'stbl'))
  const [entry] = boxesIn(contentOf(table, 'stsd').subarray(FULL + 4))
  if (!entry || !CODECS.has(entry.type)) return undefined
  const further = boxesIn(entry.content.subarray(ENTRY_BYTES))
  return {
    handler: contentOf(media, 'hdlr').toString('latin1', FULL + 4, FULL + 8),
    width: entry.content.readUInt16BE(24),
    height: entry.content.readUInt16BE(26),
    pages: contentOf(table, 'stsz').readUInt32BE(FULL + 4),
    // ffmpeg writes no box `auxi`: such a track belongs to another one, and has no other use.
    isAlpha: further.some(({ type }) => type === 'auxi')
      ? statesAlpha(contentOf(further, 'auxi'))
      : contentOf(boxesIn(contentOf(boxes, 'tref')), 'auxl').length > 0,
    colours: contentOf(further, 'colr'),
    loop: loopOf(boxes),
    delays: () => delaysOf(table, contentOf(media, 'mdhd')),
  }
}

/** A flag of the edit list states that the animation is repeated, until the duration of the track has passed. */
function loopOf(boxes: readonly Box[]): number {
  const list = contentOf(boxesIn(contentOf(boxes, 'edts')), 'elst')
  // Browsers repeat an animation without an edit list.
  if (list.length === 0) return 0
  if (list.readUInt8(3) % 2 === 0) return 1
  const once = numberAt(list, FULL + 4)
  const header = contentOf(boxes, 'tkhd')
  const all = numberAt(header, header.readUInt8(0) === 1 ? FULL + 24 : FULL + 16)
  const isEndless = all === FOREVER[wordOf(header)] || once === 0
  return isEndless ? 0 : Math.max(1, Math.round(all / once))
}

/** The size of times in a full box, in bytes. */
function wordOf(box: Buffer): 4 | 8 {
  return box.readUInt8(0) === 1 ? 8 : 4
}

function numberAt(box: Buffer, at: number): number {
  return wordOf(box) === 8 ? Number(box.readBigUInt64BE(at)) : box.readUInt32BE(at)
}

/** The frames are stored in the order in which they are decoded. Their durations are those between the times at which they are shown. */
function delaysOf(table: readonly Box[], header: Buffer): number[] {
  const scale = header.readUInt32BE(header.readUInt8(0) === 1 ? FULL + 16 : FULL + 8)
  const count = contentOf(table, 'stsz').readUInt32BE(FULL + 4)
  const durations = runsIn(contentOf(table, 'stts'), count)
  const offsets = runsIn(contentOf(table, 'ctts'), count)
  let decodedAt = 0
  const shown = durations.map((duration, i) => {
    const at = decodedAt + (offsets[i] ?? 0)
    decodedAt += duration
    return { at, duration }
  })
  shown.sort((a, b) => a.at - b.at)
  return shown.map(({ at, duration }, i) => {
    const next = shown[i + 1]
    return Math.round(((next ? next.at - at : duration) * 1000) / scale)
  })
}

/** The values of a table that has each value with its number of repetitions. */
function runsIn(table: Buffer, count: number): number[] {
  const values: number[] = []
  for (let at = FULL + 4; at + 8 <= table.length && values.length < count; at += 8) {
    const repeated = Math.min(table.readUInt32BE(at), count - values.length)
    // Offsets may be negative. No duration is so long.
    const value = table.readInt32BE(at + 4)
    for (let i = 0; i < repeated; i += 1) values.push(value)
  }
  return values
}
