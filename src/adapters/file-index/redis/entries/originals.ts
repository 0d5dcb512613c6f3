import type { ObjectKey } from '../../../../core/files/object-key.ts'
import { formatNamed } from '../../../../core/media/formats.ts'
import type { OriginalEntry, OriginalRecord } from '../../../../core/ports/file-index.ts'
import {
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
// The body is the record without its key: instant, digest, CRC-32, size, name, and then a JSON of the members that few files have.
// `packed.ts` has the form of the parts, and `lua.ts` reads them in scripts.

/** The entry of a stored or trashed original. */
type ListedEntry = Extract<OriginalEntry, { record: OriginalRecord }>

const HEX = /^(?:[0-9a-f]{2})*$/

/** The record of an original as bytes, the same in both states. */
export function bodyOf(record: OriginalRecord): Buffer {
  const { key, originalName, mediaType, size, sha256, crc32, storedAt, ...others } = record
  const digest = HEX.test(sha256) ? sha256 : undefined
  const json = jsonOf({
    ...others,
    ...(mediaType === usualMediaType(key) ? {} : { mediaType }),
    ...(digest === undefined ? { sha256 } : {}),
    // In UTF-8, half of a character would be replaced.
    ...(originalName.isWellFormed() ? {} : { originalName }),
  })
  return Buffer.concat([
    packedInstant(storedAt),
    packedText(Buffer.from(digest ?? '', 'hex')),
    packedOptional(crc32),
    packedNumber(size),
    packedText(originalName),
    Buffer.from(json),
  ])
}

/** The JSON of an object, with its members in the order of their names. Empty when it has none. */
function jsonOf(members: object): string {
  const json = JSON.stringify(
    Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1))),
  )
  return json === '{}' ? '' : json
}

/** The media type of the format in a key. */
function usualMediaType(key: string): string | undefined {
  const end = key.lastIndexOf('/')
  return formatNamed(key.slice(key.lastIndexOf('/', end - 1) + 1, end))?.mediaType
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

/** Unpacks the entry of an original. @throws Error when it is no entry */
export function originalEntry(key: ObjectKey, bytes: Buffer): OriginalEntry {
  return unpacked<OriginalEntry>(bytes, (from) => {
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
