import type { FileList } from '../../../../../client/index.ts'
import { fileItem, type Item } from './items.ts'

/** The items of a list, of which those in the middle may not be loaded yet. */
export interface Items {
  /** Of all items, as far as the service knows it; else of the loaded ones. */
  count: number
  /** Undefined: not loaded, or beyond the end. */
  at(index: number): Item | undefined
  /** The first items that are loaded without a gap. */
  first: readonly Item[]
  /** The last ones, empty when there is no gap. */
  last: readonly Item[]
}

/** Items of a page, made once: a list of 100 pages receives a new page 100 times. */
const made = new WeakMap<FileList, readonly Item[]>()

export function pageItems(page: FileList): readonly Item[] {
  const known = made.get(page)
  if (known) return known
  const items = page.files.map(fileItem)
  made.set(page, items)
  return items
}

/** Without those that were there before: a file that moved between two pages is in both. */
export function distinct(items: readonly Item[]): readonly Item[] {
  const ids = new Set<string>()
  for (const { id } of items) ids.add(id)
  if (ids.size === items.length) return items
  return items.filter(({ id }) => ids.delete(id))
}

/**
 * The items whose first and last ones are loaded.
 *
 * @param count of all items. As soon as as many are loaded, there is no gap
 */
export function sparse(first: readonly Item[], last: readonly Item[], count: number): Items {
  if (last.length > 0 && first.length + last.length >= count) return complete(distinct([...first, ...last]))
  if (count <= first.length) return complete(first)
  const from = count - last.length
  return { count, first, last, at: (index) => (index < from ? first[index] : last[index - from]) }
}

function complete(items: readonly Item[]): Items {
  return { count: items.length, first: items, last: [], at: (index) => items[index] }
}

/** The keys of the files before and after a file. */
export interface Neighbours {
  previous?: string
  next?: string
}

/** The neighbours of a file among the loaded items. None when it is not loaded, for example after a reload. */
export function neighboursOf(items: Items, key: string): Neighbours {
  const { first, last, count } = items
  const inFirst = first.findIndex(({ id }) => id === key)
  const inLast = inFirst === -1 ? last.findIndex(({ id }) => id === key) : -1
  if (inFirst === -1 && inLast === -1) return {}
  const at = inFirst === -1 ? count - last.length + inLast : inFirst
  const [previous, next] = [items.at(at - 1), items.at(at + 1)]
  return {
    ...(previous?.kind === 'file' && { previous: previous.id }),
    ...(next?.kind === 'file' && { next: next.id }),
  }
}
