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

/** The JSON of an original's record without its key. The owner's texts are last, because scripts use the first digest they find. */
export function originalJson({ key: _, tags, metadata, ...record }: OriginalRecord): string {
  return JSON.stringify({ ...record, ...(tags ? { tags } : {}), ...(metadata ? { metadata } : {}) })
}

/** Parses the entry of an original. @throws Error for an invalid text */
export function originalEntry(key: ObjectKey, text: string): OriginalEntry {
  const { state, rest } = splitEntry(text)
  switch (state) {
    case 'stored':
      return { state, record: { key, ...JSON.parse(rest) } }
    case 'trashed': {
      const [until = '', at = ''] = rest.split(' ', 2)
      const record = JSON.parse(rest.slice(until.length + at.length + 2))
      return { state, record: { key, ...record }, trash: { at: Number(at), until: Number(until) } }
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
