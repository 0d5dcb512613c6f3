import { boxesIn } from './boxes.ts'
import type { PictureFacts } from './decoder.ts'

const CODESTREAM = 0xff0a
// Width by height, by the number in the header. 0: the width has a number of its own.
const RATIOS = [0, 1, 6 / 5, 4 / 3, 3 / 2, 16 / 9, 5 / 4, 2] as const
const ALPHA = 0

/**
 * Reads the upright size of a JPEG XL, and whether it has transparency, from its header. Undefined for a file without it.
 *
 * @see ISO/IEC 18181-1, annex D
 */
export function jxlFacts(head: Buffer): PictureFacts | undefined {
  const codestream = codestreamIn(head)
  if (codestream.length < 2 || codestream.readUInt16BE(0) !== CODESTREAM) return undefined
  const bits = bitsOf(codestream.subarray(2))
  const size = sizeIn(bits)
  // All further fields have their defaults.
  if (bits.flag()) return bits.isOver() ? undefined : { ...size, hasAlpha: false }
  const { orientation, isAnimation } = bits.flag()
    ? extraFields(bits)
    : { orientation: 1, isAnimation: false }
  skipDepth(bits)
  // 16 bits suffice for buffers.
  bits.flag()
  const channels = bits.number([0, 0], [1, 0], [2, 4], [1, 12])
  const hasAlpha = channels > 0 && (bits.flag() || bits.number([0, 0], [1, 0], [2, 4], [18, 6]) === ALPHA)
  if (bits.isOver()) return undefined
  const { width, height } = size
  const upright = orientation > 4 ? { width: height, height: width } : { width, height }
  return { ...upright, hasAlpha, ...(isAnimation ? { pages: 'unknown' } : {}) }
}

/** The pixels of a file are all of it, or in one box, or in several of which the first has the header. */
function codestreamIn(head: Buffer): Buffer {
  if (head.length >= 2 && head.readUInt16BE(0) === CODESTREAM) return head
  for (const { type, content } of boxesIn(head)) {
    if (type === 'jxlc') return content
    if (type === 'jxlp') return content.subarray(4)
  }
  return Buffer.alloc(0)
}

type Bits = ReturnType<typeof bitsOf>
/** A number from `start` on, of this many bits. */
type Choice = readonly [start: number, bits: number]

function bitsOf(bytes: Buffer) {
  let at = 0
  const take = (count: number) => {
    let value = 0
    for (let i = 0; i < count; i += 1, at += 1) value += (((bytes[at >> 3] ?? 0) >> (at & 7)) & 1) * 2 ** i
    return value
  }
  return {
    take,
    flag: () => take(1) === 1,
    /** One of four kinds of numbers, which two bits select. */
    number(...choices: readonly [Choice, Choice, Choice, Choice]) {
      const [start, count] = choices[take(2)] as Choice
      return start + take(count)
    },
    isOver: () => at > bytes.length * 8,
  }
}

function sizeIn(bits: Bits): { width: number; height: number } {
  const isSmall = bits.flag()
  const side = () => (isSmall ? (bits.take(5) + 1) * 8 : bits.number([1, 9], [1, 13], [1, 18], [1, 30]))
  const height = side()
  const ratio = RATIOS[bits.take(3)] ?? 0
  return { width: ratio === 0 ? side() : Math.floor(height * ratio), height }
}

/** Returns the orientation, as that of EXIF, and whether the image is an animation. */
function extraFields(bits: Bits): { orientation: number; isAnimation: boolean } {
  const orientation = bits.take(3) + 1
  if (bits.flag()) sizeIn(bits)
  if (bits.flag()) skipPreview(bits)
  const isAnimation = bits.flag()
  if (isAnimation) {
    // Ticks per second, as a fraction; loops; time codes.
    bits.number([100, 0], [1000, 0], [1, 10], [1, 30])
    bits.number([1, 0], [1001, 0], [1, 8], [1, 10])
    bits.number([0, 0], [0, 3], [0, 16], [0, 32])
    bits.flag()
  }
  return { orientation, isAnimation }
}

function skipPreview(bits: Bits): void {
  const isDivided = bits.flag()
  const skipSide = () =>
    isDivided
      ? bits.number([16, 0], [32, 0], [1, 5], [33, 9])
      : bits.number([1, 6], [65, 8], [321, 10], [1345, 12])
  skipSide()
  if (bits.take(3) === 0) skipSide()
}

function skipDepth(bits: Bits): void {
  if (bits.flag()) {
    bits.number([32, 0], [16, 0], [24, 0], [1, 6])
    bits.take(4)
  } else bits.number([8, 0], [10, 0], [12, 0], [1, 6])
}
