import { boxesIn, contentOf, FULL, unlessCut } from './boxes.ts'
import type { PictureFacts } from './decoder.ts'
import { statesAlpha } from './heif-values.ts'

/**
 * Reads the upright size of the primary image of a HEIF file, and whether it has transparency, from the properties in
 * the first bytes of the file. Nothing is decoded. Undefined for a file without these properties.
 *
 * @see ISO/IEC 23008-12, section 6
 */
export function heifFacts(head: Buffer): PictureFacts | undefined {
  return unlessCut(() => factsIn(head))
}

function factsIn(head: Buffer): PictureFacts | undefined {
  const meta = boxesIn(contentOf(boxesIn(head), 'meta').subarray(FULL))
  const properties = boxesIn(contentOf(meta, 'iprp'))
  const all = boxesIn(contentOf(properties, 'ipco'))
  let size: { width: number; height: number } | undefined
  for (const index of indexesOf(primaryItem(contentOf(meta, 'pitm')), contentOf(properties, 'ipma'))) {
    const { type, content } = all[index - 1] ?? { type: '', content: head }
    if (type === 'ispe') size = { width: content.readUInt32BE(FULL), height: content.readUInt32BE(FULL + 4) }
    if (type === 'clap') size = { width: ratioAt(content, 0), height: ratioAt(content, 8) }
    if (size && type === 'irot' && content.readUInt8(0) % 2 === 1)
      size = { width: size.height, height: size.width }
  }
  if (!size || !(size.width >= 1 && size.height >= 1)) return undefined
  const hasAlpha = all.some(({ type, content }) => type === 'auxC' && statesAlpha(content))
  return { ...size, hasAlpha }
}

function primaryItem(pitm: Buffer): number {
  return pitm.readUInt8(0) === 0 ? pitm.readUInt16BE(FULL) : pitm.readUInt32BE(FULL)
}

/** The properties of an item, by their places from 1, in the order in which they apply. */
function indexesOf(item: number, ipma: Buffer): number[] {
  const itemBytes = ipma.readUInt8(0) === 0 ? 2 : 4
  const indexBytes = ipma.readUInt8(3) % 2 === 1 ? 2 : 1
  const indexMask = indexBytes === 2 ? 0x7fff : 0x7f
  let at = FULL + 4
  for (let left = ipma.readUInt32BE(FULL); left > 0; left -= 1) {
    const id = ipma.readUIntBE(at, itemBytes)
    const count = ipma.readUInt8(at + itemBytes)
    at += itemBytes + 1
    if (id === item)
      return Array.from(
        { length: count },
        (_, i) => ipma.readUIntBE(at + i * indexBytes, indexBytes) & indexMask,
      )
    at += count * indexBytes
  }
  return []
}

function ratioAt(content: Buffer, at: number): number {
  return Math.round(content.readUInt32BE(at) / content.readUInt32BE(at + 4))
}
