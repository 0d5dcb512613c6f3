// Of our own: packages for TIFF and EXIF need the whole file, and decode it. Here, places of values are read from a part of it.

/** The order of the bytes of a number: `le` is little-endian. */
export type ByteOrder = 'le' | 'be'

/** A field of a directory, without its values. */
export interface TiffField {
  count: number
  /** Bytes of one value: 1, 2, 4 or 8. */
  size: number
  /** The position of the values, in bytes. */
  at: number
}

export interface TiffDirectory {
  /** By tag; the first of equal ones. */
  fields: ReadonlyMap<number, TiffField>
  /** The position of the next directory; 0 when there is none. */
  next: number
}

const FIELD_BYTES = 12

/** Bytes of the longest directory that is read, of 512 fields. Cameras write up to a hundred. */
export const DIRECTORY_BYTES = 2 + 512 * FIELD_BYTES + 4

// Of the types 0 to 13 of the standard.
const SIZES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]

/** The order of the bytes that the first two bytes of a TIFF name; undefined for other bytes. */
export function byteOrder(head: Uint8Array): ByteOrder | undefined {
  if (head[0] === 0x49 && head[1] === 0x49) return 'le'
  if (head[0] === 0x4d && head[1] === 0x4d) return 'be'
  return undefined
}

/** Reads the number of 1, 2 or 4 bytes at a position. @throws RangeError beyond the end */
export function numberAt(
  bytes: Buffer,
  at: number,
  { size, order }: { size: number; order: ByteOrder },
): number {
  return order === 'le' ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size)
}

/**
 * Reads a directory of a TIFF. Fields beyond the end of the table are left out.
 *
 * @param table the bytes of the file from the position `at`, at most {@link DIRECTORY_BYTES}
 * @see TIFF 6.0, section 2
 */
export function readDirectory(table: Buffer, { at, order }: { at: number; order: ByteOrder }): TiffDirectory {
  const read = (position: number, size: number) => numberAt(table, position, { size, order })
  const fields = new Map<number, TiffField>()
  const end = 2 + FIELD_BYTES * (table.length < 2 ? 0 : read(0, 2))
  for (let field = 2; field < end && field + FIELD_BYTES <= table.length; field += FIELD_BYTES) {
    const tag = read(field, 2)
    const size = SIZES[read(field + 2, 2)] ?? 0
    const count = read(field + 4, 4)
    if (size === 0 || count === 0 || fields.has(tag)) continue
    // Up to four bytes are in the field itself.
    const isInside = size * count <= 4
    fields.set(tag, { count, size, at: isInside ? at + field + 8 : read(field + 8, 4) })
  }
  return { fields, next: end + 4 <= table.length ? read(end, 4) : 0 }
}
