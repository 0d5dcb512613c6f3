import type { FileRef } from '../../../core/files/file-ref.ts'
import type { OriginalEntry } from '../../../core/ports/file-index.ts'
import type { ListedState } from '../../../core/ports/index/listed-state.ts'
import type { Row } from '../../level/resilient-level.ts'
import { ORDERS, type Order, positionOf, sortable } from '../positions.ts'
import { row } from '../rows.ts'
import { searchRows } from './search.ts'

/** The beginning of the rows of a list. */
export function listOf(clientId: string, state: ListedState, by: Order): string {
  return row('l', clientId, state, by)
}

/** The rows by which an entry is found in lists and by a search. No rows for an entry that is not listed. */
export function listing({ clientId, key }: FileRef, entry: OriginalEntry | undefined): Row[] {
  if (entry?.state !== 'stored' && entry?.state !== 'trashed') return []
  const { state, record } = entry
  const rows: Row[] = ORDERS.map((by) => ({
    type: 'put',
    key: row(listOf(clientId, state, by), positionOf(record, by)),
    value: record.size,
  }))
  if (state === 'trashed')
    rows.push({ type: 'put', key: row('x', sortable(entry.trash.until), clientId, key), value: 0 })
  return [...rows, ...searchRows({ clientId, key }, record)]
}

/** The rows that replace the listing of one entry by that of another. */
export function relisting(
  ref: FileRef,
  before: OriginalEntry | undefined,
  entry: OriginalEntry | undefined,
): Row[] {
  const [old, rows] = [listing(ref, before), listing(ref, entry)]
  const names = new Set(rows.map(({ key }) => key))
  return [...old.flatMap(({ key }): Row[] => (names.has(key) ? [] : [{ type: 'del', key }])), ...rows]
}
