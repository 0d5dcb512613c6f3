import { COMMON } from '../../../texts/common.ts'
import { Skeleton, SkeletonRows } from '../../../ui/skeleton.tsx'
import type { View } from './browser.tsx'

/** The list while it is loading. */
export function ListSkeleton({ view }: { view: View }) {
  if (view === 'table')
    return (
      <div className="rounded-lg border border-line bg-surface">
        <div className="h-9 border-line border-b" />
        <SkeletonRows rows={10} rowHeight={48} />
      </div>
    )
  return (
    <div
      role="status"
      aria-label={COMMON.loading}
      className="grid grid-cols-2 gap-2 sm:grid-cols-[repeat(auto-fill,minmax(172px,1fr))]"
    >
      {Array.from({ length: 18 }, (_, tile) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the tiles are all the same
        <div key={tile} className="p-1.5">
          <Skeleton className="h-36 w-full" />
          <Skeleton className="mt-2 h-3 w-3/4" />
          <Skeleton className="mt-2 h-3 w-1/3" />
        </div>
      ))}
    </div>
  )
}
