import { byteOrder, numberAt, readDirectory, type TiffField } from '../tiff-directory.ts'

/** Whether these are the first bytes of a TIFF or a BigTIFF. */
export function isTiff(head: Uint8Array): boolean {
  const order = byteOrder(head)
  if (order === undefined) return false
  const version =
    order === 'le' ? (head[2] ?? 0) + 256 * (head[3] ?? 0) : 256 * (head[2] ?? 0) + (head[3] ?? 0)
  return version === 42 || version === 43
}

/** The offset of a TIFF's first directory, in bytes; undefined for other files and for a BigTIFF. */
export function tiffDirectory(head: Uint8Array): number | undefined {
  if (!isTiff(head) || head.length < 8 || head[2] === 43 || head[3] === 43) return undefined
  return new DataView(head.buffer, head.byteOffset).getUint32(4, byteOrder(head) === 'le')
}

// Tags of the first directory.
const SUBFILE_TYPE = 254
const PHOTOMETRIC = 262
const MAKE = 271
const SUB_DIRECTORIES = 330
const DNG_VERSION = 50706
const DNG_PRIVATE_DATA = 50740

const REDUCED = 1
const COLOUR_FILTER_ARRAY = 32803
const CR2_AT = 8

/**
 * The name of the RAW format of a file that begins like a TIFF; undefined for any other TIFF. The programs of the same
 * makers write TIFFs as well: their first directory has the image itself.
 *
 * @param head the first bytes of the file, with its first directory
 */
export function rawFormat(head: Uint8Array): 'cr2' | 'dng' | 'nef' | 'arw' | 'pef' | undefined {
  const at = tiffDirectory(head)
  const order = byteOrder(head)
  if (at === undefined || order === undefined) return undefined
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  if (at > CR2_AT && bytes.toString('latin1', CR2_AT, CR2_AT + 2) === 'CR') return 'cr2'
  const { fields } = readDirectory(bytes.subarray(at), { at, order })
  if (fields.has(DNG_VERSION)) return 'dng'
  const first = (field: TiffField | undefined) =>
    field && field.size <= 4 && field.at + field.size <= bytes.length
      ? numberAt(bytes, field.at, { size: field.size, order })
      : 0
  const make = fields.get(MAKE)
  const maker = make ? bytes.toString('latin1', make.at, make.at + make.count) : ''
  const isReduced = first(fields.get(SUBFILE_TYPE)) === REDUCED && fields.has(SUB_DIRECTORIES)
  if (/^NIKON/i.test(maker) && isReduced) return 'nef'
  if (/^SONY/i.test(maker) && isReduced && fields.has(DNG_PRIVATE_DATA)) return 'arw'
  if (/^(?:PENTAX|RICOH)/i.test(maker) && first(fields.get(PHOTOMETRIC)) === COLOUR_FILTER_ARRAY) return 'pef'
  return undefined
}
