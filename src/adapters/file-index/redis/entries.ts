import type { ObjectKey } from '../../../core/files/object-key.ts'
import type {
  DerivativeEntry,
  DerivativeRecord,
  OriginalEntry,
  OriginalRecord,
} from '../../../core/ports/file-index.ts'

// Converts the entries of originals and derivatives from and to the texts of `step.ts`.

/** The JSON of a derivative's record. It omits the key, since that is the name of its field. */
export function derivativeJson({ key: _, ...record }: DerivativeRecord): string {
  return JSON.stringify(record)
}

/**
 * The JSON of an original's record without its key. The owner's texts are last, because scripts use the first digest they find. The
 * tag is first: scripts remove it, and an older version reads it as a member of the record.
 */
export function originalJson(
  { key: _, tags, metadata, ...record }: OriginalRecord,
  recordTag?: string,
): string {
  return JSON.stringify({
    ...(recordTag === undefined ? {} : { recordTag }),
    ...record,
    ...(tags ? { tags } : {}),
    ...(metadata ? { metadata } : {}),
  })
}

// Version 1.0 moves an original to the trash, or restores it, without a change of the tag. Such a tag is ignored: it is of the former record.
const OF_TRASH = 'trash '

/** A tag as the JSON of an entry has it. */
export function tagText(state: 'stored' | 'trashed', recordTag: string | undefined): string | undefined {
  return recordTag === undefined || state === 'stored' ? recordTag : `${OF_TRASH}${recordTag}`
}

/** The text of an entry that lists have, with this tag. */
export function listedText(
  entry: Extract<OriginalEntry, { record: OriginalRecord }>,
  recordTag?: string,
): string {
  const json = originalJson(entry.record, tagText(entry.state, recordTag))
  return entry.state === 'stored'
    ? `stored ${json}`
    : `trashed ${entry.trash.until} ${entry.trash.at} ${json}`
}

/** Parses the entry of an original. @throws Error for an invalid text */
export function originalEntry(key: ObjectKey, text: string): OriginalEntry {
  const { state, rest } = splitEntry(text)
  switch (state) {
    case 'stored':
      return { state, ...recordIn(key, rest, state) }
    case 'trashed': {
      const [until = '', at = ''] = rest.split(' ', 2)
      const parsed = recordIn(key, rest.slice(until.length + at.length + 2), state)
      return { state, ...parsed, trash: { at: Number(at), until: Number(until) } }
    }
    case 'pending':
    case 'going':
      return { state, leaseUntil: Number(rest) }
    case 'gone':
      return { state }
    default:
      throw new Error(`not an entry of the index: ${text}`)
  }
}

function recordIn(
  key: ObjectKey,
  json: string,
  state: 'stored' | 'trashed',
): { record: OriginalRecord; recordTag?: string } {
  const parsed: { recordTag?: string } & Omit<OriginalRecord, 'key'> = JSON.parse(json)
  const { recordTag: text, ...record } = parsed
  const recordTag = text?.startsWith(OF_TRASH) ? text.slice(OF_TRASH.length) : text
  // A tag of the other state differs from its text in this one.
  const isOfState = tagText(state, recordTag) === text
  return { record: { key, ...record }, ...(recordTag !== undefined && isOfState ? { recordTag } : {}) }
}

/** Parses the entry of a derivative. */
export function derivativeEntry(key: ObjectKey, text: string): DerivativeEntry {
  const { state, rest } = splitEntry(text)
  if (state === 'stored') return { state, record: { key, ...JSON.parse(rest) } }
  return { state: 'pending', deadline: Number(rest) }
}

function splitEntry(text: string): { state: string; rest: string } {
  const space = text.indexOf(' ')
  return space === -1
    ? { state: text, rest: '' }
    : { state: text.slice(0, space), rest: text.slice(space + 1) }
}
