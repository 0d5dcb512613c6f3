import type { ObjectKey } from '../../../../core/files/object-key.ts'
import type { OriginalEntry, OriginalRecord } from '../../../../core/ports/file-index.ts'
import { USUAL_MEDIA_TYPES } from './media-types.ts'
import {
  digestBytes,
  packedInstant,
  packedNumber,
  packedOptional,
  packedTag,
  packedText,
  type Unpacker,
  unpacked,
} from './packed.ts'

// The entry of an original is bytes. Equal entries have equal bytes, because steps compare them. It begins with a letter for its state:
//
//     p: pending, or g: going    instant
//     x: gone
//     s: stored                  tag, body
//     t: trashed                 until, at, tag, body
//
// The body is the record without its key: instant, digest, CRC-32, size, name, and then a JSON of the members that few files have,
// and of a media type that is not in `media-types.ts`.
// `packed.ts` has the form of the parts, and `lua.ts` reads them in scripts.

/** The entry of a stored or trashed original. */
type ListedEntry = Extract<OriginalEntry, { record: OriginalRecord }>

/** The record of an original as bytes, the same in both states. */
export function bodyOf(record: OriginalRecord): Buffer {
  const { key, originalName, mediaType, size, sha256, crc32, storedAt, ...others } = record
  const digest = digestBytes(sha256)
  const json = jsonOf({
    ...others,
    ...(mediaType === usualMediaType(key) ? {} : { mediaType }),
    ...(digest.length * 2 === sha256.length ? {} : { sha256 }),
    // In UTF-8, half of a character would be replaced.
    ...(originalName.isWellFormed() ? {} : { originalName }),
  })
  return Buffer.concat([
    packedInstant(storedAt),
    packedText(digest),
    packedOptional(crc32),
    packedNumber(size),
    packedText(originalName),
    Buffer.from(json),
  ])
}

/** The JSON of an object, with its members, and theirs, in the order of their names. Empty when it has none. */
function jsonOf(members: object): string {
  const json = JSON.stringify(members, (_name, value) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
  return json === '{}' ? '' : json
}

/** The media type of the format in a key. Undefined for a rare format. */
function usualMediaType(key: string): string | undefined {
  const end = key.lastIndexOf('/')
  return USUAL_MEDIA_TYPES.get(key.slice(key.lastIndexOf('/', end - 1) + 1, end))
}

/** Packs the entry of a stored or trashed original. */
export function packedListed(entry: ListedEntry): Buffer {
  const { record, recordTag } = entry
  const state =
    entry.state === 'stored'
      ? [Buffer.from('s')]
      : [Buffer.from('t'), packedInstant(entry.trash.until), packedInstant(entry.trash.at)]
  return Buffer.concat([...state, packedTag(recordTag), bodyOf(record)])
}

/** Unpacks the entry of an original. @throws UnreadableEntry */
export function originalEntry(key: ObjectKey, bytes: Buffer): OriginalEntry {
  return unpacked<OriginalEntry>(key, bytes, (from) => {
    switch (from.letter()) {
      case 's':
        return { state: 'stored', ...listedIn(key, from) }
      case 't': {
        const until = from.instant()
        const trash = { at: from.instant(), until }
        return { state: 'trashed', ...listedIn(key, from), trash }
      }
      case 'p':
        return { state: 'pending', leaseUntil: from.instant() }
      case 'g':
        return { state: 'going', leaseUntil: from.instant() }
      case 'x':
        return { state: 'gone' }
      default:
        return undefined
    }
  })
}

function listedIn(key: ObjectKey, from: Unpacker): Pick<ListedEntry, 'record' | 'recordTag'> {
  const recordTag = from.tag()
  const storedAt = from.instant()
  const sha256 = from.text('hex')
  const crc32 = from.optional()
  const size = from.number()
  const originalName = from.text()
  const record: OriginalRecord = {
    key,
    originalName,
    mediaType: usualMediaType(key) ?? '',
    size,
    sha256,
    ...(crc32 === undefined ? {} : { crc32 }),
    storedAt,
    ...(from.isAtEnd ? {} : JSON.parse(from.rest())),
  }
  return recordTag === undefined ? { record } : { record, recordTag }
}
