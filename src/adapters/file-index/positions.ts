import { type ObjectKey, storedKey } from '../../core/files/object-key.ts'
import type {
  ListedFile,
  ListedState,
  OriginalEntry,
  OriginalRecord,
  PageRequest,
} from '../../core/ports/file-index.ts'

export type Order = PageRequest['by']

export const LISTED_STATES: readonly ListedState[] = ['stored', 'trashed']
export const ORDERS: readonly Order[] = ['key', 'storedAt', 'sha256']

// Until the year 33658.
const INSTANT_DIGITS = 15

/** Where an original stands in a list: a text, whose bytes are in the list's order. `redis/step.ts` has the same. */
export function positionOf({ key, storedAt, sha256 }: OriginalRecord, by: Order): string {
  if (by === 'key') return key
  return `${by === 'storedAt' ? sortable(storedAt) : sha256} ${key}`
}

/** An instant as a text that is in order. */
export function sortable(instant: number): string {
  return String(Math.floor(instant)).padStart(INSTANT_DIGITS, '0')
}

/** The original that stands there. */
export function keyAt(position: string, by: Order): ObjectKey {
  return storedKey(by === 'key' ? position : position.slice(position.indexOf(' ') + 1))
}

export function listed(entry: Extract<OriginalEntry, { record: OriginalRecord }>, by: Order): ListedFile {
  const { record } = entry
  const position = positionOf(record, by)
  return entry.state === 'trashed' ? { position, record, trash: entry.trash } : { position, record }
}

/** What a page can be made of, as bounds, both exclusive; undefined where there is none. */
export function boundsOf({ direction = 'up', prefix, after }: PageRequest): {
  above: string | undefined
  below: string | undefined
} {
  const above = prefix
  // No position ends where its prefix does, and "0" comes next after "/".
  const below = prefix && `${prefix.slice(0, -1)}0`
  if (after === undefined) return { above, below }
  return direction === 'up'
    ? { above: above !== undefined && isBefore(after, above) ? above : after, below }
    : { above, below: below !== undefined && isBefore(below, after) ? below : after }
}

/** As LevelDB and Redis see it; JavaScript has another order for what is beyond U+FFFF. */
function isBefore(one: string, other: string): boolean {
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0
}
