// biome-ignore-all lint/a11y/useSemanticElements: a virtual list has no table
// biome-ignore-all lint/a11y/useFocusableInteractive: one item has the focus, and the others receive it by keys
import { clsx } from 'clsx'
import { type MouseEvent, memo, type PointerEvent } from 'react'
import { Skeleton } from '../../../ui/skeleton.tsx'
import type { Item } from './items.ts'
import { COLUMNS, RowCells } from './row.tsx'
import type { SelectMode } from './selection.ts'
import { Tile } from './tile.tsx'

/** What entries do. The same object for all renders, so that an entry renders again only when it changes. */
export interface EntryActions {
  select: (index: number, mode: SelectMode) => void
  open: (item: Item) => void
  isSelected: (item: Item) => boolean
  hasSelection: () => boolean
}

export interface EntryProps {
  /** Undefined while it is loading. */
  item: Item | undefined
  index: number
  isSelected: boolean
  /** Whether the tab key finds it. */
  hasFocus: boolean
  hasSelection: boolean
  actions: EntryActions
}

/** A tile of the grid. */
export const GridEntry = memo(function GridEntry(props: EntryProps) {
  const { item, isSelected, hasSelection } = props
  return (
    <div
      role="gridcell"
      className={clsx(
        'group flex min-w-0 select-none flex-col rounded-lg border p-1.5 pb-2',
        isSelected ? 'border-accent bg-accent-soft' : 'border-transparent hover:bg-hover',
      )}
      {...entryProps(props)}
    >
      {item ? (
        <Tile
          key={item.id}
          item={item}
          isSelected={isSelected}
          hasSelection={hasSelection}
          onToggle={toggle(props)}
        />
      ) : (
        <>
          <span className="min-h-0 flex-1 rounded-md bg-sunken" />
          <span className="mt-2.5 mb-3.5 ml-1 block h-3 w-3/4 rounded-md bg-pressed" />
        </>
      )}
    </div>
  )
})

/** A row of the table. */
export const TableEntry = memo(function TableEntry({
  top,
  height,
  ...props
}: EntryProps & { top: number; height: number }) {
  const { item, index, isSelected, hasSelection, actions } = props
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${top}px)`, height }}
      className={clsx(
        COLUMNS,
        'absolute inset-x-0 top-0 select-none border-line border-b text-sm outline-offset-[-2px] last:border-b-0',
        isSelected ? 'bg-accent-soft' : 'hover:bg-hover',
      )}
      {...entryProps(props)}
    >
      {item ? (
        <RowCells
          key={item.id}
          item={item}
          isSelected={isSelected}
          hasSelection={hasSelection}
          onToggle={toggle(props)}
          onOpen={() => actions.open(item)}
        />
      ) : (
        <span role="gridcell" className="col-span-2 pl-12">
          <Skeleton className="h-3 w-2/5" />
        </span>
      )}
    </div>
  )
})

function entryProps({ item, index, isSelected, hasFocus, actions }: EntryProps) {
  return {
    'data-index': index,
    'data-id': item?.id,
    tabIndex: hasFocus ? 0 : -1,
    'aria-selected': isSelected,
    ...(item ? {} : { 'aria-busy': true }),
    onClick: (event: MouseEvent) => {
      if (!item) return
      if (event.shiftKey) actions.select(index, 'range')
      else if (event.ctrlKey || event.metaKey) actions.select(index, 'toggle')
      else if (isTouch(event)) actions.hasSelection() ? actions.select(index, 'toggle') : actions.open(item)
      else actions.select(index, 'only')
    },
    onDoubleClick: () => item && actions.open(item),
    onContextMenu: () => {
      if (item && !actions.isSelected(item)) actions.select(index, 'only')
    },
    // Shift selects files here, not text.
    onMouseDown: (event: MouseEvent) => event.shiftKey && event.preventDefault(),
  }
}

function toggle({ index, actions }: EntryProps) {
  return (isRange: boolean) => actions.select(index, isRange ? 'range' : 'toggle')
}

function isTouch(event: MouseEvent): boolean {
  return (event.nativeEvent as unknown as PointerEvent).pointerType === 'touch'
}
