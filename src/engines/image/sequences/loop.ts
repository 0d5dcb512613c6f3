import { boxesIn, contentOf, FULL } from '../decoders/boxes.ts'

// Fields of full boxes in version 0, after their version and flags.
const MVHD = { timescale: FULL + 8, duration: FULL + 12 }
const MDHD = MVHD
const TKHD = { duration: FULL + 16 }
const EDTS_BYTES = 8 + 8 + FULL + 4 + 12
const REPEATED = 1
const UNCHANGED_RATE = 0x0001_0000

/**
 * States how often an image sequence of AVIF is shown, which ffmpeg does not write. Without an edit list, it is endless.
 *
 * @param written as ffmpeg writes it: its tables before its data, and in boxes of version 0
 * @param loop 0: endless
 * @see ISO/IEC 23008-12, section 9.6.1
 */
export function withLoop(written: Buffer, loop: number): Buffer {
  if (loop === 0) return written
  const file = Buffer.from(written)
  const all = boxesIn(file)
  const moov = contentOf(all, 'moov')
  const tracks = boxesIn(moov).filter(({ type }) => type === 'trak')
  const movieScale = contentOf(boxesIn(moov), 'mvhd').readUInt32BE(MVHD.timescale)
  const added = tracks.length * EDTS_BYTES
  const parts: Buffer[] = []
  let at = 0
  for (const { content } of tracks) {
    const track = boxesIn(content)
    const [head, media] = [contentOf(track, 'tkhd'), boxesIn(contentOf(track, 'mdia'))]
    const mdhd = contentOf(media, 'mdhd')
    const once = Math.round(
      (mdhd.readUInt32BE(MDHD.duration) * movieScale) / mdhd.readUInt32BE(MDHD.timescale),
    )
    head.writeUInt32BE(once * loop, TKHD.duration)
    const table = boxesIn(contentOf(boxesIn(contentOf(media, 'minf')), 'stbl'))
    moveOffsets(contentOf(table, 'stco'), added)
    grow(content, EDTS_BYTES)
    const end = placeIn(file, head) + head.length
    parts.push(file.subarray(at, end), editList(once))
    at = end
  }
  grow(moov, added)
  moveItems(contentOf(boxesIn(contentOf(all, 'meta').subarray(FULL)), 'iloc'), added)
  return Buffer.concat([...parts, file.subarray(at)])
}

function placeIn(file: Buffer, part: Buffer): number {
  return part.byteOffset - file.byteOffset
}

/** Adds to the size of the box with this content, which precedes it with the type. */
function grow(content: Buffer, bytes: number): void {
  const header = Buffer.from(content.buffer, content.byteOffset - 8, 4)
  header.writeUInt32BE(header.readUInt32BE(0) + bytes, 0)
}

/** Adds to the offsets of the chunks of a track. */
function moveOffsets(table: Buffer, bytes: number): void {
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

/** A box `edts` that shows the whole track, again and again for the duration of the track. */
function editList(duration: number): Buffer {
  const box = Buffer.alloc(EDTS_BYTES)
  box.writeUInt32BE(EDTS_BYTES, 0)
  box.write('edts', 4, 'latin1')
  box.writeUInt32BE(EDTS_BYTES - 8, 8)
  box.write('elst', 12, 'latin1')
  box.writeUInt32BE(REPEATED, 16)
  box.writeUInt32BE(1, 20)
  box.writeUInt32BE(duration, 24)
  box.writeUInt32BE(0, 28)
  box.writeUInt32BE(UNCHANGED_RATE, 32)
  return box
}
