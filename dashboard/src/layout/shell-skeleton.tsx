import { Skeleton } from '../ui/skeleton.tsx'
import { LoadingPage } from './plain-pages.tsx'

/** The frame while the session is loading, in the same sizes. */
export function ShellSkeleton() {
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
      <div className="hidden h-dvh flex-col gap-3 border-line border-r bg-surface p-3 md:flex">
        <Skeleton className="h-10 w-full" />
        <Skeleton className="h-8 w-full" />
        {['w-24', 'w-32', 'w-20', 'w-28'].map((width) => (
          <Skeleton key={width} className={`h-4 ${width}`} />
        ))}
      </div>
      <div className="h-14 border-line border-b bg-surface md:hidden" />
      <LoadingPage />
    </div>
  )
}
