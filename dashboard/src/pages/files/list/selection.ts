import { useState } from 'react'
import type { Item } from './items.ts'

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
  all(): void
  clear(): void
}

export function useSelection(items: readonly Item[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [focus, setFocus] = useState(0)
  const [anchor, setAnchor] = useState(0)
  const [moves, setMoves] = useState(0)
  return {
    ids,
    focus: Math.max(0, Math.min(focus, items.length - 1)),
    moves,
    select(index, mode, byKey = false) {
      const item = items[index]
      if (!item) return
      setFocus(index)
      if (byKey) setMoves(moves + 1)
      if (mode !== 'range') setAnchor(index)
      if (mode === 'only') setIds(new Set([item.id]))
      if (mode === 'toggle') {
        const next = new Set(ids)
        if (!next.delete(item.id)) next.add(item.id)
        setIds(next)
      }
      if (mode === 'range') {
        const [from, to] = [Math.min(anchor, index), Math.max(anchor, index)]
        setIds(new Set(items.slice(from, to + 1).map(({ id }) => id)))
      }
    },
    all: () => setIds(new Set(items.map(({ id }) => id))),
    clear: () => setIds(new Set()),
  }
}
