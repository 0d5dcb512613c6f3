/** A box of the ISO base media file format, of HEIF, JPEG XL and JPEG 2000. */
export interface Box {
  type: string
  /** The content, without size and type. */
  content: Buffer
}

/** The boxes of a part of a file, at most up to its end. */
export function boxesIn(part: Buffer): Box[] {
  const boxes: Box[] = []
  for (let at = 0; at + 8 <= part.length; ) {
    const size = part.readUInt32BE(at)
    const isLong = size === 1
    if (isLong && at + 16 > part.length) break
    // A size of 0 reaches to the end.
    const length = isLong ? Number(part.readBigUInt64BE(at + 8)) : size || part.length - at
    const head = isLong ? 16 : 8
    if (length < head) break
    boxes.push({
      type: part.toString('latin1', at + 4, at + 8),
      content: part.subarray(at + head, at + length),
    })
    at += length
  }
  return boxes
}

/** The content of the first box of a type; empty without one. */
export function contentOf(boxes: readonly Box[], type: string): Buffer {
  return boxes.find((box) => box.type === type)?.content ?? Buffer.alloc(0)
}

/** A full box has a version and flags before its content: this many bytes. */
export const FULL = 4

/** Returns undefined when a field that is read is beyond the end of its box. */
export function unlessCut<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (err) {
    if (err instanceof RangeError) return undefined
    throw err
  }
}
