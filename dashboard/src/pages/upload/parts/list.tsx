import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import { UPLOAD } from '../../../texts/upload.ts'
import type { UploadItem } from '../queue/item.ts'
import type { UploadQueue } from '../queue/queue.ts'
import { Row } from './row.tsx'

const ROW_PX = 56

/** All uploads. Only the visible rows are in the page: a dropped folder may have thousands. */
export function UploadList({ items, queue }: { items: readonly UploadItem[]; queue: UploadQueue }) {
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => items[index]?.id ?? index,
    overscan: 6,
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable by keyboard
    <div ref={scroller} tabIndex={0} className="min-h-0 flex-1 overflow-y-auto border-line border-t">
      <ul aria-label={UPLOAD.list} className="relative w-full" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const item = items[index]
          return (
            item && (
              <li
                key={key}
                ref={rows.measureElement}
                data-index={index}
                aria-setsize={items.length}
                aria-posinset={index + 1}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${start}px)` }}
              >
                <Row item={item} queue={queue} />
              </li>
            )
          )
        })}
      </ul>
    </div>
  )
}
