import { type ObjectKey, storedKey } from '../../../core/files/object-key.ts'
import type {
  DerivativeEntry,
  FileIndex,
  IndexedFile,
  OriginalEntry,
} from '../../../core/ports/file-index.ts'
import type { ResilientLevel } from '../../level/resilient-level.ts'
import { row, under } from '../rows.ts'

/** A derivative of an original, by its key. */
export interface Derived {
  key: ObjectKey
  entry: DerivativeEntry
}

/** Reads originals with their derivatives from consecutive rows, whose names sort as the keys do. */
export function filesBetween(level: ResilientLevel): FileIndex['filesBetween'] {
  return async (clientId, { after, upTo, limit }) => {
    const begin = after === '' ? under(row('o', clientId)).gt : row('o', clientId, after)
    // The names of rows after that of `upTo` have more bytes.
    const end = upTo === undefined ? under(row('o', clientId)).lt : `${row('o', clientId, upTo)}\0`
    const originals = await level.rows({ gt: begin, lt: end, limit })
    const last = keyIn(originals.at(-1)?.[0])
    if (last === undefined) return { files: [], next: undefined }
    const derivatives = new Map<string, Derived[]>()
    const first = keyIn(originals[0]?.[0]) ?? last
    const rows = await level.rows({
      gt: row('d', clientId, first, ''),
      lt: under(row('d', clientId, last)).lt,
    })
    for (const [name, entry] of rows) {
      const [, , original = '', key = ''] = name.split('\0')
      const known = derivatives.get(original) ?? []
      known.push({ key: storedKey(key), entry: entry as DerivativeEntry })
      derivatives.set(original, known)
    }
    const files = originals.flatMap(([name, entry]): IndexedFile[] => {
      const original = entry as OriginalEntry
      if (!('record' in original)) return []
      const key = storedKey(keyIn(name) ?? '')
      return [{ ref: { clientId, key }, original, derivatives: derivatives.get(key) ?? [] }]
    })
    return { files, next: originals.length < limit ? undefined : last }
  }
}

function keyIn(name: string | undefined): string | undefined {
  return name?.split('\0')[2]
}
