import type { KeyboardEvent } from 'react'
import type { Item } from './items.ts'
import type { Selection } from './selection.ts'
import type { Items } from './sparse.ts'

/** The keys of the list: arrows move, shift extends, space selects, Enter opens. */
export function useKeys({
  items,
  selection,
  columns,
  onOpen,
  onDelete,
}: {
  items: Items
  selection: Selection
  columns: number
  onOpen: (item: Item) => void
  onDelete: (() => void) | undefined
}) {
  return (event: KeyboardEvent) => {
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event
    const isOnItem = event.target instanceof HTMLElement && event.target.dataset.index !== undefined
    if (altKey) return
    const hasModifier = ctrlKey || metaKey
    if (hasModifier && key.toLowerCase() === 'a') {
      event.preventDefault()
      selection.all()
      return
    }
    if (key === 'Escape' && selection.ids.size > 0) {
      event.preventDefault()
      selection.clear()
      return
    }
    if (!isOnItem) return
    const { focus } = selection
    const to = target(key, focus, { columns, count: items.count })
    if (to !== undefined) {
      event.preventDefault()
      selection.select(to, shiftKey ? 'range' : 'focus', true)
      return
    }
    const item = items.at(focus)
    if (!item) return
    if (key === ' ') {
      event.preventDefault()
      selection.select(focus, shiftKey ? 'range' : 'toggle', true)
    } else if (key === 'Enter') {
      event.preventDefault()
      onOpen(item)
    } else if (key === 'Delete' && onDelete && !hasModifier) {
      event.preventDefault()
      if (selection.ids.size === 0) selection.select(focus, 'only', true)
      onDelete()
    }
  }
}

/** Where a key moves the focus to. Undefined: the key moves nothing. */
function target(key: string, from: number, { columns, count }: { columns: number; count: number }) {
  const last = count - 1
  // About one window of rows.
  const screen = columns * Math.max(1, Math.floor(window.innerHeight / (columns === 1 ? 60 : 260)))
  const steps: Record<string, number> = {
    ArrowUp: -columns,
    ArrowDown: columns,
    PageUp: -screen,
    PageDown: screen,
    ...(columns > 1 && { ArrowLeft: -1, ArrowRight: 1 }),
  }
  if (key === 'Home') return 0
  if (key === 'End') return last
  const step = steps[key]
  if (step === undefined) return undefined
  const to = from + step
  if (key === 'ArrowUp' || key === 'ArrowLeft') return to < 0 ? from : to
  return Math.max(0, Math.min(to, last))
}
