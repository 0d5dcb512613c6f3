import { useInfiniteQuery } from '@tanstack/react-query'
import { Webhook } from 'lucide-react'
import { useState } from 'react'
import { ListCard } from '../../ui/list-card.tsx'
import { EmptyState } from '../../ui/states.tsx'
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
  const query = useInfiniteQuery({
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
  return (
    <>
      <ListCard
        query={query}
        rows={query.data?.pages.flatMap((page) => page.deliveries)}
        empty={
          <EmptyState icon={<Webhook />} title={WEBHOOKS.emptyTitle}>
            {WEBHOOKS.emptyText}
          </EmptyState>
        }
      >
        {(deliveries) => <DeliveriesTable deliveries={deliveries} onOpen={setOpened} />}
      </ListCard>
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
