import { derivativePrefix, type ObjectKey, storedKey } from '../../../../core/files/object-key.ts'
import type { Use } from '../../../../core/ports/derivative-uses.ts'
import type { DerivativeEntry, DerivativeRecord } from '../../../../core/ports/file-index.ts'
import { MEDIA_TYPES } from './media-types.ts'
import { packedInstant, packedNumber, packedOptional, packedText, unpacked } from './packed.ts'

// The entry of a derivative is bytes. Equal entries have equal bytes. It begins with a letter for its state:
//
//     p: pending    deadline
//     s: stored     last use, body
//
// The last use is a number of 7 bytes, see `scoreOf`. The body is the record: the letter of the media type, CRC-32, size, and, if one of
// them exists, all of these: the other media type, the bytes of the parts, the name of the smaller derivative and its instant. One that
// does not exist is empty or 0, and the instant is left out.

const OTHER = '-'
const LETTERS = new Map(Object.entries(MEDIA_TYPES).map(([letter, mediaType]) => [mediaType, letter]))

/** The field of an original's hash with the bytes of its derivatives, for those that are counted. It does not exist when they are 0. */
export const SUM_FIELD = 'd'
/** The bytes of a last use. */
export const USE_BYTES = 7
/** Added to the score of a held use. It exceeds all instants until the year 33658, and a number of Lua holds the sum exactly. */
export const HELD = 1e15

/** A use as a number: the order of eviction. */
export function scoreOf({ at, isHeld }: Use): number {
  return Math.max(0, Math.floor(at)) + (isHeld ? HELD : 0)
}

/** The use of a score. */
export function scoredUse(score: number): Use {
  return { at: score % HELD, isHeld: score >= HELD }
}

// The hash in a variant, see `variantOf`, is shorter in base64. No key has the character before it.
const HASHED = /^_~([0-9a-f]{32})/
const HASH_MARK = '_\x01'
const HASH_END = HASH_MARK.length + 22

/**
 * The name of a derivative among those of its original: what follows its key, `_w=300`. A hash in it is shorter.
 *
 * @throws Error when it is one of another original
 */
export function nameIn(original: ObjectKey, derivative: ObjectKey): string {
  if (!derivative.startsWith(derivativePrefix(original)))
    throw new Error(`not a derivative of ${original}: ${derivative}`)
  const name = derivative.slice(original.length)
  return name.replace(HASHED, (_, hash) => HASH_MARK + Buffer.from(hash, 'hex').toString('base64url'))
}

/** The derivative with this name. @see nameIn */
export function derivativeNamed(original: ObjectKey, name: string): ObjectKey {
  if (!name.startsWith(HASH_MARK)) return storedKey(original + name)
  const hash = Buffer.from(name.slice(HASH_MARK.length, HASH_END), 'base64url').toString('hex')
  return storedKey(`${original}_~${hash}${name.slice(HASH_END)}`)
}

/** The record of a derivative as bytes. */
export function derivativeBody(original: ObjectKey, record: DerivativeRecord): Buffer {
  const { mediaType, crc32, size, partsBytes, smaller } = record
  const letter = LETTERS.get(mediaType) ?? OTHER
  const main = [Buffer.from(letter), packedOptional(crc32), packedNumber(size)]
  if (letter !== OTHER && partsBytes === undefined && smaller === undefined) return Buffer.concat(main)
  return Buffer.concat([
    ...main,
    packedText(letter === OTHER ? mediaType : ''),
    packedOptional(partsBytes),
    packedText(smaller ? nameIn(original, smaller.key) : ''),
    ...(smaller ? [packedInstant(smaller.since)] : []),
  ])
}

/** Packs the entry of a stored derivative. */
export function packedDerivative(original: ObjectKey, record: DerivativeRecord, use?: Use): Buffer {
  const head = Buffer.from('s'.padEnd(1 + USE_BYTES, '\0'))
  const score = use ? scoreOf(use) : 0
  head.writeUIntBE(Math.floor(score / 256), 1, USE_BYTES - 1)
  head.writeUInt8(score % 256, USE_BYTES)
  return Buffer.concat([head, derivativeBody(original, record)])
}

/** Unpacks the entry of a derivative. @throws UnreadableEntry */
export function derivativeEntry(original: ObjectKey, key: ObjectKey, bytes: Buffer): DerivativeEntry {
  return unpacked<DerivativeEntry>(key, bytes, (from) => {
    const state = from.letter()
    if (state === 'p') return { state: 'pending', deadline: from.instant() }
    if (state !== 's') return undefined
    from.skip(USE_BYTES)
    const letter = from.letter()
    if (letter !== OTHER && !(letter in MEDIA_TYPES)) return undefined
    const crc32 = from.optional()
    const known = {
      key,
      mediaType: MEDIA_TYPES[letter] ?? '',
      size: from.number(),
      ...(crc32 === undefined ? {} : { crc32 }),
    }
    if (from.isAtEnd && letter !== OTHER) return { state: 'stored', record: known }
    const other = from.text()
    const partsBytes = from.optional()
    const smaller = from.text()
    return {
      state: 'stored',
      record: {
        ...known,
        ...(letter === OTHER ? { mediaType: other } : {}),
        ...(partsBytes === undefined ? {} : { partsBytes }),
        ...(smaller === ''
          ? {}
          : { smaller: { key: derivativeNamed(original, smaller), since: from.instant() } }),
      },
    }
  })
}
