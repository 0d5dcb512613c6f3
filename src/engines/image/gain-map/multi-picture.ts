import { byteOrder, DIRECTORY_BYTES, numberAt, readDirectory } from '../../../core/media/tiff-directory.ts'
import { unlessCut } from '../decoders/boxes.ts'

const INDEX = 'MPF\0'
const ENTRIES = 0xb002
const ENTRY_BYTES = 16
const MOST_IMAGES = 8
// The index is in front of the pixels. Thumbnails and colour profiles may precede it.
const HEAD_BYTES = 1024 * 1024

/** The images after the first one of a JPEG, as its index lists them. @see CIPA DC-007, Multi-Picture Format */
export function imagesAfter(jpeg: Buffer): Buffer[] {
  return unlessCut(() => listed(jpeg)) ?? []
}

function listed(jpeg: Buffer): Buffer[] {
  const found = jpeg.subarray(0, HEAD_BYTES).indexOf(INDEX, 0, 'latin1')
  if (found < 0) return []
  // Offsets count from here.
  const origin = found + INDEX.length
  const index = jpeg.subarray(origin)
  const order = byteOrder(index)
  if (order === undefined) return []
  const read = (at: number) => numberAt(index, at, { size: 4, order })
  const at = read(4)
  const entries = readDirectory(index.subarray(at, at + DIRECTORY_BYTES), { at, order }).fields.get(ENTRIES)
  if (!entries) return []
  const count = Math.min(Math.floor(entries.count / ENTRY_BYTES), MOST_IMAGES)
  return Array.from({ length: count }, (_, i) => entries.at + ENTRY_BYTES * i).flatMap((entry) => {
    const [bytes, offset] = [read(entry + 4), read(entry + 8)]
    return offset === 0 ? [] : [index.subarray(offset, offset + bytes)]
  })
}
