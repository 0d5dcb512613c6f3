import { clsx } from 'clsx'
import { COMMON } from '../texts/common.ts'

/** A grey area in the size of what is loading. Give it a height and a width, so that nothing moves when it is replaced. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden="true" className={clsx('block animate-pulse rounded-md bg-pressed', className)} />
}

/** Rows of a list or table that is loading, each `rowHeight` pixels high. */
export function SkeletonRows({ rows = 6, rowHeight = 48 }: { rows?: number; rowHeight?: number }) {
  return (
    <div role="status" aria-label={COMMON.loading} className="divide-y divide-line">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all the same
        <div key={row} className="flex items-center gap-4 px-4" style={{ height: rowHeight }}>
          <Skeleton className="size-6 rounded-full" />
          <Skeleton className={clsx('h-3', ['w-2/5', 'w-1/3', 'w-1/2'][row % 3])} />
          <span className="flex-1" />
          <Skeleton className="h-3 w-16" />
        </div>
      ))}
    </div>
  )
}

/** For what needs less than a second, and has no known size. */
export function Spinner({ label = COMMON.loading }: { label?: string }) {
  return (
    <span
      role="status"
      className="inline-flex size-5 animate-spin rounded-full border-2 border-line border-t-accent"
    >
      <span className="sr-only">{label}</span>
    </span>
  )
}
