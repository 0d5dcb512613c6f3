const COLOURS_AT = 26
const PROFILE = 1039
const NOTHING = Buffer.alloc(0)

/** What the sections of a PSD contain that precede the pixels. */
export interface PsdSections {
  /** Empty for an image without a palette. */
  palette: Buffer
  profile?: Buffer
  /** The first channel after the colours is the transparency of the merged image, not a saved selection. */
  hasAlpha: boolean
  /** The position of the pixels in bytes. */
  pixelsAt: number
}

/** Reads the sections, as far as the bytes have them. */
export function sectionsOf(bytes: Buffer, { isLarge }: { isLarge: boolean }): PsdSections {
  const colours = sectionAt(bytes, COLOURS_AT, 4)
  const resources = sectionAt(bytes, colours.end, 4)
  const layers = sectionAt(bytes, resources.end, isLarge ? 8 : 4)
  const profile = resourceIn(resources.content, PROFILE)
  // The length of the information about layers precedes their number, which is negative for this reason alone.
  const countAt = isLarge ? 8 : 4
  const hasAlpha = layers.content.length >= countAt + 2 && layers.content.readInt16BE(countAt) < 0
  return { palette: colours.content, ...(profile ? { profile } : {}), hasAlpha, pixelsAt: layers.end }
}

/** A section that begins with its length. Its end may be beyond that of the bytes. */
function sectionAt(bytes: Buffer, at: number, lengthBytes: 4 | 8): { content: Buffer; end: number } {
  const start = at + lengthBytes
  if (start > bytes.length) return { content: NOTHING, end: start }
  // The length of a PSB is below 2 ** 48 as well.
  const length = lengthBytes === 4 ? bytes.readUInt32BE(at) : bytes.readUIntBE(at + 2, 6)
  return { content: bytes.subarray(start, start + length), end: start + length }
}

/** A resource by its number. Its name and its content are padded to an even length. */
function resourceIn(resources: Buffer, id: number): Buffer | undefined {
  for (let at = 0; at + 12 <= resources.length; ) {
    const nameBytes = 1 + resources.readUInt8(at + 6)
    const sizeAt = at + 6 + nameBytes + (nameBytes % 2)
    if (sizeAt + 4 > resources.length) return undefined
    const size = resources.readUInt32BE(sizeAt)
    const content = resources.subarray(sizeAt + 4, sizeAt + 4 + size)
    if (resources.readUInt16BE(at + 4) === id && content.length === size && size > 0) return content
    at = sizeAt + 4 + size + (size % 2)
  }
  return undefined
}
