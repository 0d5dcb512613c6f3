import { clsx } from 'clsx'
import { COMMON } from '../../../texts/common.ts'
import { formatBytes } from '../../../ui/format.ts'
import type { Item } from './items.ts'
import { FolderGlyph, Thumbnail } from './thumbnail.tsx'
import { Tick } from './tick.tsx'

export interface CellProps {
  item: Item
  isSelected: boolean
  /** Whether something is selected: then boxes are shown on all tiles. */
  hasSelection: boolean
  onToggle: (isRange: boolean) => void
}

/** The content of a tile of the grid. */
export function Tile({ item, isSelected, hasSelection, onToggle }: CellProps) {
  return (
    <>
      <span
        className={clsx(
          'relative flex min-h-0 flex-1 items-center justify-center overflow-hidden rounded-md',
          item.kind === 'file' && 'bg-sunken',
        )}
      >
        {item.kind === 'folder' ? (
          <FolderGlyph className="size-16 fill-accent-soft stroke-1" />
        ) : (
          <Thumbnail file={item.file} width={320} />
        )}
        <Tick
          name={item.name}
          isOn={isSelected}
          onToggle={onToggle}
          className={clsx(
            'absolute top-0 left-0 z-10',
            !isSelected &&
              !hasSelection &&
              // A touch screen has no hover: without a box, nothing shows how to select.
              'opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100 pointer-coarse:opacity-100',
          )}
        />
      </span>
      <span className="block px-1 pt-1.5">
        <span className="block truncate font-medium text-sm" title={item.name}>
          {item.name}
        </span>
        <span className="block truncate text-muted text-xs">{detailOf(item)}</span>
      </span>
    </>
  )
}

function detailOf(item: Item): string {
  if (item.kind === 'folder') return COMMON.files(item.folder.files)
  return `${item.file.format.toUpperCase()} · ${formatBytes(item.file.size)}`
}
