// biome-ignore-all lint/a11y/useSemanticElements: a virtual list has no table
// biome-ignore-all lint/a11y/useFocusableInteractive: one item has the focus, and the others receive it by keys
import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import { clsx } from 'clsx'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { COMMON } from '../../../texts/common.ts'
import { Button } from '../../../ui/button.tsx'
import { Spinner } from '../../../ui/skeleton.tsx'
import type { Sort } from '../search.ts'
import { FILES } from '../texts.ts'
import { type EntryActions, type EntryProps, GridEntry, TableEntry } from './entry.tsx'
import { Header } from './header.tsx'
import type { Item } from './items.ts'
import { useKeys } from './keys.ts'
import type { Selection } from './selection.ts'
import type { List } from './use-list.ts'

export type View = 'grid' | 'table'

const ROW = 48
const TILE_MIN = 172
const TILE_MIN_NARROW = 140
const TILE_TEXT = 64
const GAP = 8

/** The folders and files: only the rows within the window exist. */
export function Browser({
  list,
  view,
  selection,
  sort,
  onSort,
  onOpen,
  onDelete,
}: {
  list: List
  view: View
  selection: Selection
  sort: Sort
  onSort: (sort: Sort) => void
  onOpen: (item: Item) => void
  onDelete: (() => void) | undefined
}) {
  const { items } = list
  const area = useRef<HTMLDivElement>(null)
  const { width, top } = usePlace(area)
  const least = width < 480 ? TILE_MIN_NARROW : TILE_MIN
  const columns = view === 'grid' ? Math.max(2, Math.floor((width + GAP) / (least + GAP))) : 1
  const side = (width - GAP * (columns - 1)) / columns
  const height = view === 'grid' ? Math.round(side * 0.8) + TILE_TEXT : ROW
  const focusRow = Math.floor(selection.focus / columns)
  const rows = useWindowVirtualizer({
    count: Math.ceil(items.count / columns),
    estimateSize: () => height,
    gap: view === 'grid' ? GAP : 0,
    overscan: view === 'grid' ? 3 : 10,
    scrollMargin: top,
    // The item with the focus exists always: otherwise the tab key would not find the list.
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range)
      return shown.includes(focusRow) || focusRow >= range.count
        ? shown
        : [...shown, focusRow].sort((a, b) => a - b)
    },
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: all rows change with their height
  useLayoutEffect(() => rows.measure(), [height, columns, rows])
  const shown = rows.getVirtualItems()
  const { startIndex = 0, endIndex = 0 } = rows.range ?? {}
  const { show, error } = list
  useEffect(() => {
    if (error === null) show(startIndex * columns, (endIndex + 1) * columns)
  })
  useLayoutEffect(() => {
    if (selection.moves === 0) return
    rows.scrollToIndex(focusRow, { align: 'auto' })
    const find = () => area.current?.querySelector<HTMLElement>(`[data-index="${selection.focus}"]`)
    const frame = requestAnimationFrame(() => find()?.focus({ preventScroll: true }))
    return () => cancelAnimationFrame(frame)
  }, [selection.moves, selection.focus, focusRow, rows])
  const onKeyDown = useKeys({ items, selection, columns, onOpen, onDelete })
  const hasSelection = selection.ids.size > 0
  const isCountKnown = !list.hasMore || items.count > items.first.length

  const latest = useRef({ selection, onOpen })
  latest.current = { selection, onOpen }
  const [actions] = useState<EntryActions>(() => ({
    select: (index, mode) => latest.current.selection.select(index, mode),
    open: (item) => latest.current.onOpen(item),
    isSelected: ({ id }) => latest.current.selection.ids.has(id),
    hasSelection: () => latest.current.selection.ids.size > 0,
  }))
  const entryProps = (index: number): EntryProps => {
    const item = items.at(index)
    const isSelected = item !== undefined && selection.ids.has(item.id)
    return { item, index, isSelected, hasFocus: index === selection.focus, hasSelection, actions }
  }
  return (
    <div
      role="grid"
      aria-label={FILES.list}
      aria-multiselectable="true"
      aria-rowcount={isCountKnown ? rows.options.count + (view === 'table' ? 1 : 0) : -1}
      aria-colcount={view === 'grid' ? columns : 5}
      onKeyDown={onKeyDown}
    >
      {view === 'table' && <Header sort={sort} onSort={onSort} />}
      <div
        ref={area}
        role="rowgroup"
        className={clsx(
          'relative',
          view === 'table' && 'rounded-b-lg border border-line border-t-0 bg-surface',
        )}
        style={{ height: rows.getTotalSize() }}
      >
        {width > 0 &&
          shown.map(({ index: row, start, key }) =>
            view === 'table' ? (
              <TableEntry key={key} {...entryProps(row)} top={start - top} height={height} />
            ) : (
              <div
                key={key}
                role="row"
                aria-rowindex={row + 1}
                className="absolute inset-x-0 top-0 grid"
                style={{
                  transform: `translateY(${start - top}px)`,
                  height,
                  gap: GAP,
                  gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
                }}
              >
                {indexesOf(row, columns, items.count).map((index) => (
                  <GridEntry key={index} {...entryProps(index)} />
                ))}
              </div>
            ),
          )}
      </div>
      {error && (
        <div className="flex items-center justify-center gap-3 py-4 text-danger-ink text-sm">
          <span role="alert">{FILES.moreFailed}</span>
          <Button onClick={list.retry}>{COMMON.retry}</Button>
        </div>
      )}
      {list.isLoadingMore && !isCountKnown && (
        <div className="flex justify-center py-6">
          <Spinner label={FILES.loadingMore} />
        </div>
      )}
    </div>
  )
}

/** The indexes of the items in a row of the grid. */
function indexesOf(row: number, columns: number, count: number): number[] {
  const from = row * columns
  return Array.from({ length: Math.min(columns, count - from) }, (_, column) => from + column)
}

/** The width of the list, and its distance from the top of the page. */
function usePlace(area: { readonly current: HTMLElement | null }): { width: number; top: number } {
  const [place, setPlace] = useState({ width: 0, top: 0 })
  useLayoutEffect(() => {
    const element = area.current
    if (!element) return undefined
    const measure = () => {
      const { width, top } = element.getBoundingClientRect()
      const next = { width: Math.floor(width), top: Math.round(top + window.scrollY) }
      setPlace((old) => (old.width === next.width && old.top === next.top ? old : next))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    // What is above the list changes its place.
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [area])
  return place
}
