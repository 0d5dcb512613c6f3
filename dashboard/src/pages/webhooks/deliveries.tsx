import { useInfiniteQuery } from '@tanstack/react-query'
import { Webhook } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { EmptyState, ErrorState } from '../../ui/states.tsx'
import { filterOf, type Scope, type Selection } from './data.ts'
import { DeliveryDrawer } from './delivery-drawer.tsx'
import { DeliveriesTable } from './table.tsx'
import { WEBHOOKS } from './texts.ts'

const PAGE = 50
// Each refresh loads all pages that are shown.
const POLL_MS = 5000

/** The selected deliveries, the latest first, and a panel with one of them. */
export function Deliveries({
  scope,
  selection,
  onReplayed,
}: {
  scope: Scope
  selection: Selection
  onReplayed: () => Promise<void>
}) {
  const [opened, setOpened] = useState<string>()
  const { status } = selection
  const deliveries = useInfiniteQuery({
    queryKey: [...scope.key, 'deliveries', selection],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      scope.webhooks.page({
        ...filterOf(selection),
        ...(status !== 'all' && { status }),
        limit: PAGE,
        cursor: pageParam,
        signal,
      }),
    getNextPageParam: ({ cursor }) => cursor ?? undefined,
    refetchInterval: POLL_MS,
  })
  const rows = deliveries.data?.pages.flatMap((page) => page.deliveries)
  return (
    <>
      {deliveries.error && !rows ? (
        <ErrorState error={deliveries.error} onRetry={() => void deliveries.refetch()} />
      ) : (
        <Card isFlush>
          {!rows && <SkeletonRows />}
          {rows?.length === 0 && (
            <EmptyState icon={<Webhook />} title={WEBHOOKS.emptyTitle}>
              {WEBHOOKS.emptyText}
            </EmptyState>
          )}
          {rows && rows.length > 0 && <DeliveriesTable deliveries={rows} onOpen={setOpened} />}
        </Card>
      )}
      {deliveries.hasNextPage && (
        <Button
          className="mt-3"
          isBusy={deliveries.isFetchingNextPage}
          onClick={() => void deliveries.fetchNextPage()}
        >
          {WEBHOOKS.more}
        </Button>
      )}
      {opened && (
        <DeliveryDrawer
          scope={scope}
          id={opened}
          onClose={() => setOpened(undefined)}
          onReplayed={onReplayed}
        />
      )}
    </>
  )
}
