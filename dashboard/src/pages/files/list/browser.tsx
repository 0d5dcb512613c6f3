// biome-ignore-all lint/a11y/useSemanticElements: a virtual list has no table
// biome-ignore-all lint/a11y/useFocusableInteractive: one item has the focus, and the others receive it by keys
import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import { clsx } from 'clsx'
import { type MouseEvent, type PointerEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { FILES } from '../../../texts/files.ts'
import { Spinner } from '../../../ui/skeleton.tsx'
import type { Sort } from '../search.ts'
import { Header } from './header.tsx'
import type { Item } from './items.ts'
import { useKeys } from './keys.ts'
import { COLUMNS, RowCells } from './row.tsx'
import type { Selection } from './selection.ts'
import { Tile } from './tile.tsx'
import type { List } from './use-list.ts'

export type View = 'grid' | 'table'

const ROW = 48
const TILE_MIN = 172
const TILE_MIN_NARROW = 140
const TILE_TEXT = 64
const GAP = 8
// Items before the end of the list at which the next page is requested.
const AHEAD = 150

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
    count: Math.ceil(items.length / columns),
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
  const last = ((rows.range?.endIndex ?? 0) + 1) * columns
  const { loadMore, error } = list
  useEffect(() => {
    if (last + AHEAD >= items.length && error === null) loadMore()
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

  const itemProps = (item: Item, index: number) => ({
    'data-index': index,
    'data-id': item.id,
    tabIndex: index === selection.focus ? 0 : -1,
    'aria-selected': selection.ids.has(item.id),
    onClick: (event: MouseEvent) => {
      if (event.shiftKey) selection.select(index, 'range')
      else if (event.ctrlKey || event.metaKey) selection.select(index, 'toggle')
      else if (isTouch(event)) hasSelection ? selection.select(index, 'toggle') : onOpen(item)
      else selection.select(index, 'only')
    },
    onDoubleClick: () => onOpen(item),
    onContextMenu: () => {
      if (!selection.ids.has(item.id)) selection.select(index, 'only')
    },
    // Shift selects files here, not text.
    onMouseDown: (event: MouseEvent) => event.shiftKey && event.preventDefault(),
  })
  const cellProps = (item: Item, index: number) => ({
    item,
    isSelected: selection.ids.has(item.id),
    hasSelection,
    onToggle: (isRange: boolean) => selection.select(index, isRange ? 'range' : 'toggle'),
  })
  return (
    <div
      role="grid"
      aria-label={FILES.list}
      aria-multiselectable="true"
      aria-rowcount={list.hasMore ? -1 : rows.options.count + (view === 'table' ? 1 : 0)}
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
          shown.map(({ index: row, start, key }) => {
            const style = { transform: `translateY(${start - top}px)`, height }
            if (view === 'table') {
              const item = items[row]
              return (
                item && (
                  <div
                    key={key}
                    role="row"
                    aria-rowindex={row + 2}
                    style={style}
                    className={clsx(
                      COLUMNS,
                      'absolute inset-x-0 top-0 select-none border-line border-b text-sm outline-offset-[-2px] last:border-b-0',
                      selection.ids.has(item.id) ? 'bg-accent-soft' : 'hover:bg-hover',
                    )}
                    {...itemProps(item, row)}
                  >
                    <RowCells {...cellProps(item, row)} onOpen={() => onOpen(item)} />
                  </div>
                )
              )
            }
            return (
              <div
                key={key}
                role="row"
                aria-rowindex={row + 1}
                className="absolute inset-x-0 top-0 grid"
                style={{ ...style, gap: GAP, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
              >
                {items.slice(row * columns, (row + 1) * columns).map((item, column) => (
                  <div
                    key={item.id}
                    role="gridcell"
                    className={clsx(
                      'group flex min-w-0 select-none flex-col rounded-lg border p-1.5 pb-2 transition-colors',
                      selection.ids.has(item.id)
                        ? 'border-accent bg-accent-soft'
                        : 'border-transparent hover:bg-hover',
                    )}
                    {...itemProps(item, row * columns + column)}
                  >
                    <Tile {...cellProps(item, row * columns + column)} />
                  </div>
                ))}
              </div>
            )
          })}
      </div>
      {list.isLoadingMore && (
        <div className="flex justify-center py-6">
          <Spinner label={FILES.loadingMore} />
        </div>
      )}
    </div>
  )
}

function isTouch(event: MouseEvent): boolean {
  return (event.nativeEvent as unknown as PointerEvent).pointerType === 'touch'
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
