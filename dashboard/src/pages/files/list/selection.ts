import { useState } from 'react'
import type { Item } from './items.ts'
import type { Items } from './sparse.ts'

/** How a click or a key changes the selection. */
export type SelectMode = 'only' | 'toggle' | 'range' | 'focus'

/** The selected items, and the one with the focus. */
export interface Selection {
  ids: ReadonlySet<string>
  /** The index of the item that keys act on. */
  focus: number
  /** Counts up with each change by a key, after which the item receives the focus of the browser. */
  moves: number
  select(index: number, mode: SelectMode, byKey?: boolean): void
  /** Selects all loaded items. */
  all(): void
  /** Whether `all` made this selection. More items may have been loaded since. */
  isAll: boolean
  choose(items: readonly Item[]): void
  clear(): void
}

/** @param onGap a range has items that are not loaded, and that are not selected */
export function useSelection(items: Items, onGap: () => void): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [allIds, setAllIds] = useState<ReadonlySet<string>>()
  const [focus, setFocus] = useState(0)
  const [anchor, setAnchor] = useState(0)
  const [moves, setMoves] = useState(0)
  const idsOf = (chosen: readonly Item[]) => new Set(chosen.map(({ id }) => id))
  const choose = (chosen: readonly Item[]) => setIds(idsOf(chosen))
  return {
    ids,
    focus: Math.max(0, Math.min(focus, items.count - 1)),
    moves,
    select(index, mode, byKey = false) {
      const item = items.at(index)
      if (!item && mode !== 'focus' && mode !== 'range') return
      setFocus(index)
      if (byKey) setMoves(moves + 1)
      if (mode !== 'range') setAnchor(index)
      if (mode === 'only' && item) setIds(new Set([item.id]))
      if (mode === 'toggle' && item) {
        const next = new Set(ids)
        if (!next.delete(item.id)) next.add(item.id)
        setIds(next)
      }
      if (mode === 'range') {
        const [from, to] = [Math.min(anchor, index), Math.max(anchor, index)]
        const beforeLast = items.count - items.last.length
        const chosen = [
          ...items.first.slice(from, to + 1),
          ...items.last.slice(Math.max(0, from - beforeLast), Math.max(0, to + 1 - beforeLast)),
        ]
        if (chosen.length < to - from + 1) onGap()
        choose(chosen)
      }
    },
    all() {
      const all = idsOf([...items.first, ...items.last])
      setIds(all)
      setAllIds(all)
    },
    isAll: ids === allIds,
    choose,
    clear: () => setIds(new Set()),
  }
}
