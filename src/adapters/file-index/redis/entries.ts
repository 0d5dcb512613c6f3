import type { ObjectKey } from '../../../core/files/object-key.ts'
import type {
  DerivativeEntry,
  DerivativeRecord,
  OriginalEntry,
  OriginalRecord,
} from '../../../core/ports/file-index.ts'

// Originals and derivatives as texts: see `step.ts`.

/** A derivative's record without the key, under which it is kept anyway. */
export function derivativeJson({ key: _, ...record }: DerivativeRecord): string {
  return JSON.stringify(record)
}

/** The same of an original, with what its owner has said at the end: the scripts take the first digest that they see. */
export function originalJson({ key: _, tags, metadata, ...record }: OriginalRecord): string {
  return JSON.stringify({ ...record, ...(tags ? { tags } : {}), ...(metadata ? { metadata } : {}) })
}

/** An original's entry as its hash has it. @throws Error for a text that is none */
export function originalEntry(key: ObjectKey, text: string): OriginalEntry {
  const { state, rest } = takenApart(text)
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

/** The same of a derivative. */
export function derivativeEntry(key: ObjectKey, text: string): DerivativeEntry {
  const { state, rest } = takenApart(text)
  if (state === 'stored') return { state, record: { key, ...JSON.parse(rest) } }
  return { state: 'pending', deadline: Number(rest) }
}

function takenApart(text: string): { state: string; rest: string } {
  const space = text.indexOf(' ')
  return space === -1
    ? { state: text, rest: '' }
    : { state: text.slice(0, space), rest: text.slice(space + 1) }
}
