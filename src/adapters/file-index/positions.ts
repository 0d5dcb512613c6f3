import { type ObjectKey, storedKey } from '../../core/files/object-key.ts'
import type { ListedFile, OriginalEntry, OriginalRecord } from '../../core/ports/file-index.ts'
import type { ListedState } from '../../core/ports/index/listed-state.ts'
import type { PageRequest } from '../../core/ports/index/page-request.ts'
import { byBytes } from '../../core/text/byte-order.ts'

export type Order = PageRequest['by']

export const LISTED_STATES: readonly ListedState[] = ['stored', 'trashed']
export const ORDERS: readonly Order[] = ['key', 'storedAt', 'sha256', 'name', 'size']

// Enough until the year 33658.
const INSTANT_DIGITS = 15
// Of the largest safe integer.
const SIZE_DIGITS = 16

/** The position of an original in a list: a text whose bytes sort in the list's order. */
export function positionOf(record: OriginalRecord, by: Order): string {
  const { key, storedAt, sha256, originalName, size } = record
  switch (by) {
    case 'key':
      return key
    case 'storedAt':
      return `${sortable(storedAt)} ${key}`
    case 'sha256':
      return `${sha256} ${key}`
    case 'name':
      return `${sortableName(originalName)}\n${key}`
    case 'size':
      return `${String(size).padStart(SIZE_DIGITS, '0')} ${key}`
  }
}

/** Whether a text has the form of {@link positionOf}. */
export function isPosition(position: string, by: Order): boolean {
  return by === 'key' || position.includes(by === 'name' ? '\n' : ' ')
}

/** A name without its case, as far as a script of Redis can compute it. No name and no key has a line break. */
export function sortableName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll('\n', ' ')
}

/** An instant as text of fixed length, so that texts sort as the instants do. */
export function sortable(instant: number): string {
  return String(Math.floor(instant)).padStart(INSTANT_DIGITS, '0')
}

/** The key of the original at a position. */
function keyAt(position: string, by: Order): ObjectKey {
  if (by === 'key') return storedKey(position)
  return storedKey(position.slice(position.indexOf(by === 'name' ? '\n' : ' ') + 1))
}

/** @param position where the list has it: the record may have changed since then */
export function listed(
  entry: Extract<OriginalEntry, { record: OriginalRecord }>,
  position: string,
): ListedFile {
  const { record } = entry
  return entry.state === 'trashed' ? { position, record, trash: entry.trash } : { position, record }
}

/** The originals at these positions, without those whose key does not match. */
export function placesOf(
  positions: readonly string[],
  { by, matches }: Pick<PageRequest, 'by' | 'matches'>,
): Array<{ position: string; key: ObjectKey }> {
  const places = positions.map((position) => ({ position, key: keyAt(position, by) }))
  return matches ? places.filter(({ key }) => matches(key)) : places
}

/** The bounds of positions, both exclusive; undefined where there is no bound. */
export interface Bounds<T = string> {
  above: T | undefined
  below: T | undefined
}

export function boundsOf({
  direction = 'up',
  prefix,
  after,
}: Pick<PageRequest, 'direction' | 'prefix' | 'after'>): Bounds {
  const above = prefix
  // A prefix ends with "/", and no position equals it. "0" is the byte after "/".
  const below = prefix && `${prefix.slice(0, -1)}0`
  if (after === undefined) return { above, below }
  return direction === 'up'
    ? { above: above !== undefined && byBytes(after, above) < 0 ? above : after, below }
    : { above, below: below !== undefined && byBytes(below, after) < 0 ? below : after }
}
