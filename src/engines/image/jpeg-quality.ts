// The sums of luminance tables at quality 50: of the standard (ITU T.81, table K.1), and of table 3 of mozjpeg, which is
// coarser for details and looks the same at the same quality. It alone does not fall from the first value to the second.
const STANDARD_SUM = 3688
const FLAT_SUM = 5423
const SCAN = 0xda
const TABLES = 0xdb
const TABLE_VALUES = 64

/**
 * The quality with which a JPEG was compressed, from 1 to 100, as libjpeg counts it: by the sum of its first quantisation
 * table. Tables of other programs give a similar number.
 *
 * @param head the start of the file
 * @returns undefined when the table is not among these bytes
 * @see ITU T.81, section B.2.4.1
 */
export function jpegQuality(head: Buffer): number | undefined {
  for (let at = 2; at + 4 <= head.length && head[at] === 0xff; ) {
    const marker = head[at + 1]
    if (marker === SCAN) return undefined
    if (marker === TABLES) return qualityOf(head.subarray(at + 4, at + 2 + head.readUInt16BE(at + 2)))
    at += 2 + head.readUInt16BE(at + 2)
  }
  return undefined
}

function qualityOf(table: Buffer): number | undefined {
  const isWide = (table[0] ?? 0) >> 4 !== 0
  if (table.length < 1 + TABLE_VALUES * (isWide ? 2 : 1)) return undefined
  const value = (i: number) => (isWide ? table.readUInt16BE(1 + 2 * i) : (table[1 + i] ?? 0))
  let sum = 0
  for (let i = 0; i < TABLE_VALUES; i += 1) sum += value(i)
  const percent = (100 * sum) / (value(1) < value(0) ? STANDARD_SUM : FLAT_SUM)
  // As `jpeg_quality_scaling` of libjpeg, the other way round.
  const quality = percent <= 100 ? (200 - percent) / 2 : 5000 / percent
  return Math.min(100, Math.max(1, Math.round(quality)))
}
