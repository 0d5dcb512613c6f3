import type { Size } from '../../../core/geometry/box.ts'
import { boxesIn, contentOf } from './boxes.ts'

// The marker of the start, and that of the size.
const CODESTREAM = 0xff4fff51
const SIZE_BYTES = 42
const ICC = 2
const MAX_COMPONENTS = 3

export interface Jp2Header extends Size {
  profile?: Buffer
  /** The components are grey or three colours without a sign. Those of colours may be half as wide and high. */
  isRead: boolean
}

/**
 * Reads the header of a JPEG 2000, a JP2 or a codestream alone. Undefined for a file without it.
 *
 * @see ITU T.800, annex A.5.1 and annex I
 */
export function jp2Header(head: Buffer): Jp2Header | undefined {
  const isBare = head.length >= 4 && head.readUInt32BE(0) === CODESTREAM
  const boxes = isBare ? [] : boxesIn(head)
  const codestream = isBare ? head : contentOf(boxes, 'jp2c')
  if (codestream.length < SIZE_BYTES || codestream.readUInt32BE(0) !== CODESTREAM) return undefined
  const number = (at: number) => codestream.readUInt32BE(at)
  const [left, top] = [number(16), number(20)]
  const [width, height] = [number(8) - left, number(12) - top]
  if (width < 1 || height < 1) return undefined
  const profile = profileIn(boxesIn(contentOf(boxes, 'jp2h')))
  const isRead = left === 0 && top === 0 && areRead(codestream)
  return { width, height, ...(profile ? { profile } : {}), isRead }
}

function areRead(codestream: Buffer): boolean {
  const count = codestream.readUInt16BE(40)
  if ((count !== 1 && count !== MAX_COMPONENTS) || codestream.length < SIZE_BYTES + 3 * count) return false
  for (let i = 0; i < count; i += 1) {
    const at = SIZE_BYTES + 3 * i
    // The bits less one; the highest bit is set for numbers with a sign.
    const [bits = 0, across = 0, down = 0] = codestream.subarray(at, at + 3)
    if (bits > 15 || bits !== codestream[SIZE_BYTES]) return false
    const most = i === 0 ? 1 : 2
    if (across < 1 || across > most || down < 1 || down > across) return false
  }
  return true
}

function profileIn(header: ReturnType<typeof boxesIn>): Buffer | undefined {
  const colours = header.filter(({ type }) => type === 'colr')
  const profile = colours.find(({ content }) => content[0] === ICC)?.content.subarray(3)
  return profile && profile.length > 0 ? profile : undefined
}
