// biome-ignore-all lint/a11y/useSemanticElements: a virtual list has no table
// biome-ignore-all lint/a11y/useFocusableInteractive: one item has the focus, and the others receive it by keys

import { COMMON } from '../../../texts/common.ts'
import { Badge } from '../../../ui/badge.tsx'
import { formatBytes, formatDate, formatTime } from '../../../ui/format.ts'
import { FILES } from '../texts.ts'
import { FolderGlyph, Thumbnail } from './thumbnail.tsx'
import { Tick } from './tick.tsx'
import type { CellProps } from './tile.tsx'

/** The widths of the columns: box, name, type, size, date. */
export const COLUMNS =
  'grid grid-cols-[2.5rem_minmax(0,1fr)_5.5rem] items-center gap-x-2 pr-3 sm:grid-cols-[2.5rem_minmax(0,1fr)_7rem_6rem] lg:grid-cols-[2.5rem_minmax(0,1fr)_8rem_7rem_9rem]'

/** The cells of a row of the table. */
export function RowCells({ item, isSelected, onToggle, onOpen }: CellProps & { onOpen: () => void }) {
  const file = item.kind === 'file' ? item.file : undefined
  return (
    <>
      <span role="gridcell">
        <Tick name={item.name} isOn={isSelected} onToggle={onToggle} className="ml-1 pointer-coarse:ml-0" />
      </span>
      <span role="gridcell" className="flex min-w-0 items-center gap-3">
        <span className="relative flex size-8 shrink-0 items-center justify-center overflow-hidden rounded-sm bg-sunken">
          {file ? (
            <Thumbnail file={file} width={80} isSmall />
          ) : (
            <FolderGlyph className="size-5 fill-accent-soft" />
          )}
        </span>
        <button
          type="button"
          tabIndex={-1}
          title={item.name}
          onClick={(event) => {
            if (event.shiftKey || event.ctrlKey || event.metaKey) return
            event.stopPropagation()
            onOpen()
          }}
          className="min-w-0 truncate text-left font-medium hover:underline"
        >
          {item.name}
        </button>
        {file?.tags.slice(0, 2).map((tag) => (
          <Badge key={tag} className="max-w-32 shrink truncate max-lg:hidden">
            {tag}
          </Badge>
        ))}
      </span>
      <span role="gridcell" className="truncate text-muted max-sm:hidden">
        {file ? file.format.toUpperCase() : FILES.folder}
      </span>
      <span role="gridcell" className="text-right text-muted tabular-nums">
        {file ? formatBytes(file.size) : COMMON.files(folderFiles(item))}
      </span>
      <span
        role="gridcell"
        className="truncate text-right text-muted tabular-nums max-lg:hidden"
        {...(file && { title: formatTime(file.uploadedAt) })}
      >
        {file ? formatDate(file.uploadedAt) : ''}
      </span>
    </>
  )
}

function folderFiles(item: CellProps['item']): number {
  return item.kind === 'folder' ? item.folder.files : 0
}
