import type { ComponentProps, ReactNode } from 'react'
import { COMMON } from '../texts/common.ts'
import { Button } from './button.tsx'
import { Card } from './page.tsx'
import { SkeletonRows } from './skeleton.tsx'
import { ErrorState } from './states.tsx'

/** What a list needs of its query, `useQuery` or `useInfiniteQuery`. */
interface ListQuery {
  error: Error | null
  refetch: () => Promise<unknown>
  hasNextPage?: boolean
  isFetchingNextPage?: boolean
  fetchNextPage?: () => Promise<unknown>
}

/** A list that is loaded, in a card: its rows, or why there are none, and a button that loads the next page. */
export function ListCard<Row>({
  query,
  rows,
  empty,
  skeleton = {},
  children,
  ...card
}: Omit<ComponentProps<typeof Card>, 'isFlush' | 'children'> & {
  query: ListQuery
  /** Undefined: not loaded yet. */
  rows: readonly Row[] | undefined
  /** Shown instead of an empty list. */
  empty: ReactNode
  /** The size of the list while it is loading. */
  skeleton?: ComponentProps<typeof SkeletonRows>
  children: (rows: readonly Row[]) => ReactNode
}) {
  const { error, refetch, hasNextPage, isFetchingNextPage = false, fetchNextPage } = query
  if (error && !rows) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <Card isFlush {...card}>
      {!rows && <SkeletonRows {...skeleton} />}
      {rows?.length === 0 && !hasNextPage && empty}
      {rows && rows.length > 0 && children(rows)}
      {hasNextPage && (
        <div className="flex justify-center border-line border-t p-3">
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage?.()}>
            {COMMON.more}
          </Button>
        </div>
      )}
    </Card>
  )
}
