import { BLOCK } from './lua.ts'

// A bitmap is followed by a byte, so that no other posting has as many bytes, and the number of its bits less one.
const BITMAP_BYTES = BLOCK / 8
const SEALED_BYTES = BITMAP_BYTES + 3

/** The bytes of a term of a name. */
export const TRIGRAM = 3

/** All parts of a text in UTF-8 of {@link TRIGRAM} bytes, in their order, without repetitions. A text has all those of its parts. */
export function trigramsOf(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  const all = new Map<string, Buffer>()
  for (let i = 0; i + TRIGRAM <= bytes.length; i += 1) {
    const trigram = bytes.subarray(i, i + TRIGRAM)
    all.set(trigram.toString('latin1'), trigram)
  }
  return [...all.values()]
}

/** Seals a posting that will not change any more. It becomes a bitmap, whose lowest bit is the number 0, if that is shorter. */
export function sealed(posting: Buffer): Buffer {
  if (posting.length <= SEALED_BYTES) return posting
  const bitmap = Buffer.alloc(SEALED_BYTES)
  for (let i = 0; i < posting.length; i += 2) {
    const ordinal = posting.readUInt16BE(i)
    bitmap[ordinal >> 3] = (bitmap[ordinal >> 3] ?? 0) | (1 << (ordinal & 7))
  }
  bitmap.writeUInt16BE(posting.length / 2 - 1, BITMAP_BYTES + 1)
  return bitmap
}

/** Lua: the bytes of a posting, and how many numbers it has. */
export const SIZE_OF = `
local function size_of(posting)
  local bytes = redis.call('STRLEN', posting)
  if bytes % 2 == 0 then return bytes, bytes / 2 end
  return bytes, struct.unpack('>I2', redis.call('GETRANGE', posting, -2, -1)) + 1
end
`

/**
 * The numbers in all of these postings of one block, in their order.
 * @param options.most one number more at most
 * @param postings at least one, the shortest one first
 */
export function intersection([first, ...others]: readonly Buffer[], { most }: { most: number }): number[] {
  const common: number[] = []
  for (const ordinal of first ? ordinalsOf(first) : []) {
    if (others.every((posting) => has(posting, ordinal))) common.push(ordinal)
    if (common.length > most) break
  }
  return common
}

function* ordinalsOf(posting: Buffer): Iterable<number> {
  if (!isBitmap(posting)) for (let i = 0; i < posting.length; i += 2) yield posting.readUInt16BE(i)
  else
    for (const [i, bits] of posting.subarray(0, BITMAP_BYTES).entries())
      for (let bit = 0; bits >> bit > 0; bit += 1) if ((bits >> bit) & 1) yield 8 * i + bit
}

function has(posting: Buffer, ordinal: number): boolean {
  if (isBitmap(posting)) return (((posting[ordinal >> 3] ?? 0) >> (ordinal & 7)) & 1) === 1
  // Numbers are appended in their order.
  let [from, to] = [0, posting.length / 2]
  while (from < to) {
    const middle = (from + to) >> 1
    if (posting.readUInt16BE(2 * middle) < ordinal) from = middle + 1
    else to = middle
  }
  return 2 * from < posting.length && posting.readUInt16BE(2 * from) === ordinal
}

function isBitmap(posting: Buffer): boolean {
  return posting.length % 2 === 1
}
