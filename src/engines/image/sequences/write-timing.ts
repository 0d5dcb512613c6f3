import { boxesIn, contentOf, FULL } from '../decoders/boxes.ts'
import { FOREVER } from './tracks.ts'

// Fields of full boxes in version 0, after their version and flags.
const MVHD = { timescale: FULL + 8 }
const MDHD = { timescale: FULL + 8, duration: FULL + 12 }
const TKHD = { duration: FULL + 16 }
const BOX_BYTES = 8
const REPEATED = 1
const UNCHANGED_RATE = 0x0001_0000

/** Bytes of a file that are replaced by others. */
interface Edit {
  at: number
  length: number
  bytes: Buffer
}

/**
 * Writes the durations of the frames into an image sequence of AVIF, and how often it is shown. ffmpeg takes each duration only in an
 * expression, which is too long for thousands of frames, and writes no edit list. Without one, an animation is endless.
 *
 * @param written as ffmpeg writes it: its tables before its data, and in boxes of version 0
 * @param timing.delays of all frames, in milliseconds
 * @param timing.loop 0: endless
 * @see ISO/IEC 14496-12, section 8.6.1.2, for the durations; ISO/IEC 23008-12, section 9.6.1, for the repetitions
 */
export function withTiming(
  written: Buffer,
  { delays, loop }: { delays: readonly number[]; loop: number },
): Buffer {
  const file = Buffer.from(written)
  const all = boxesIn(file)
  const moov = contentOf(all, 'moov')
  const movieScale = contentOf(boxesIn(moov), 'mvhd').readUInt32BE(MVHD.timescale)
  const once = delays.reduce((sum, delay) => sum + delay, 0) / 1000
  const edits: Edit[] = []
  const tables: Buffer[] = []
  for (const { type, content: track } of boxesIn(moov)) {
    if (type !== 'trak') continue
    const [head, media] = ['tkhd', 'mdia'].map((name) => contentOf(boxesIn(track), name)) as [Buffer, Buffer]
    const information = contentOf(boxesIn(media), 'minf')
    const table = contentOf(boxesIn(information), 'stbl')
    const mdhd = contentOf(boxesIn(media), 'mdhd')
    const scale = mdhd.readUInt32BE(MDHD.timescale)
    mdhd.writeUInt32BE(Math.round(once * scale), MDHD.duration)
    const before = contentOf(boxesIn(table), 'stts')
    const durations = durationsBox(delays, scale)
    const replaced = { at: placeIn(file, before) - BOX_BYTES, length: before.length + BOX_BYTES }
    const added = durations.length - replaced.length
    for (const container of [table, information, media, track, moov]) grow(container, added)
    if (loop > 0) {
      const list = editList(Math.round(once * movieScale))
      head.writeUInt32BE(Math.min(FOREVER[4], Math.round(once * movieScale) * loop), TKHD.duration)
      edits.push({ at: placeIn(file, head) + head.length, length: 0, bytes: list })
      for (const container of [track, moov]) grow(container, list.length)
    }
    edits.push({ ...replaced, bytes: durations })
    tables.push(contentOf(boxesIn(table), 'stco'))
  }
  const moved = edits.reduce((sum, { bytes, length }) => sum + bytes.length - length, 0)
  for (const table of tables) moveChunks(table, moved)
  moveItems(contentOf(boxesIn(contentOf(all, 'meta').subarray(FULL)), 'iloc'), moved)
  return edited(file, edits)
}

/** @param edits in the order of their places */
function edited(file: Buffer, edits: readonly Edit[]): Buffer {
  let at = 0
  const parts = edits.flatMap((edit) => {
    const before = file.subarray(at, edit.at)
    at = edit.at + edit.length
    return [before, edit.bytes]
  })
  return Buffer.concat([...parts, file.subarray(at)])
}

function placeIn(file: Buffer, part: Buffer): number {
  return part.byteOffset - file.byteOffset
}

/** Adds to the size of the box with this content, which precedes it with the type. */
function grow(content: Buffer, bytes: number): void {
  const header = Buffer.from(content.buffer, content.byteOffset - BOX_BYTES, 4)
  header.writeUInt32BE(header.readUInt32BE(0) + bytes, 0)
}

/** Adds to the offsets of the chunks of a track. */
function moveChunks(table: Buffer, bytes: number): void {
  for (let at = FULL + 4; at + 4 <= table.length; at += 4)
    table.writeUInt32BE(table.readUInt32BE(at) + bytes, at)
}

/** Adds to the offsets of the items, of one extent each, in a box `iloc` with offsets and lengths of 4 bytes. */
function moveItems(table: Buffer, bytes: number): void {
  const count = table.readUInt16BE(FULL + 2)
  for (let i = 0; i < count; i += 1) {
    const at = FULL + 4 + 14 * i + 6
    table.writeUInt32BE(table.readUInt32BE(at) + bytes, at)
  }
}

/** A box `stts`: runs of frames with the same duration. */
function durationsBox(delays: readonly number[], scale: number): Buffer {
  const runs: Array<[frames: number, duration: number]> = []
  for (const delay of delays) {
    const duration = Math.round((delay * scale) / 1000)
    const last = runs.at(-1)
    if (last?.[1] === duration) last[0] += 1
    else runs.push([1, duration])
  }
  return box('stts', [0, runs.length, ...runs.flat()])
}

/** A box `edts` that shows the whole track, again and again for the duration of the track. */
function editList(duration: number): Buffer {
  return box('edts', box('elst', [REPEATED, 1, duration, 0, UNCHANGED_RATE]))
}

/** @param content bytes, or numbers of 32 bits: for a full box, the first one has its version and flags */
function box(type: string, content: Buffer | readonly number[]): Buffer {
  if (!Buffer.isBuffer(content)) {
    const bytes = Buffer.alloc(4 * content.length)
    for (const [i, value] of content.entries()) bytes.writeUInt32BE(value, 4 * i)
    return box(type, bytes)
  }
  const header = Buffer.alloc(BOX_BYTES)
  header.writeUInt32BE(BOX_BYTES + content.length, 0)
  header.write(type, 4, 'latin1')
  return Buffer.concat([header, content])
}
