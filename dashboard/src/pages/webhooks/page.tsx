import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { RotateCw, Send, Webhook } from 'lucide-react'
import { useState } from 'react'
import type { WebhookDelivery } from '../../../../client/index.ts'
import { sluice } from '../../api/clients.ts'
import { WEBHOOKS } from '../../texts/webhooks.ts'
import { Button } from '../../ui/button.tsx'
import { Segmented } from '../../ui/forms/choices.tsx'
import { Select } from '../../ui/forms/select.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { EmptyState, ErrorState } from '../../ui/states.tsx'
import { DeliveryDrawer } from './delivery-drawer.tsx'
import { DeliveriesTable } from './table.tsx'
import { TestDialog } from './test-dialog.tsx'

type Status = 'all' | WebhookDelivery['status']
type Period = keyof typeof WEBHOOKS.periods

const PAGE = 50
const PERIODS = Object.entries(WEBHOOKS.periods).map(([value, label]) => ({ value: value as Period, label }))
const STATUSES = Object.entries(WEBHOOKS.statuses).map(([value, label]) => ({
  value: value as Status,
  label,
}))

/** The time when a period began, in ISO 8601. */
function startOf(period: Period): string {
  return new Date(Date.now() - Number(period) * 1000).toISOString()
}

/** The deliveries of events to all receivers, for owners. */
export function WebhooksPage() {
  const queryClient = useQueryClient()
  const [status, setStatus] = useState<Status>('all')
  const [period, setPeriod] = useState<Period>('604800')
  const [opened, setOpened] = useState<string>()
  const [isReplaying, setReplaying] = useState(false)
  const deliveries = useInfiniteQuery({
    queryKey: ['webhooks', status, period],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      sluice.webhooks.page({
        ...(status !== 'all' && { status }),
        since: startOf(period),
        limit: PAGE,
        cursor: pageParam,
        signal,
      }),
    getNextPageParam: ({ cursor }) => cursor ?? undefined,
  })
  const reload = () => queryClient.invalidateQueries({ queryKey: ['webhooks'] })
  const test = useMutation({
    mutationFn: () => sluice.webhooks.test(),
    onSuccess: reload,
    onError: toast.failure,
  })
  const replayFailed = async () => {
    const { replayed, skipped } = await sluice.webhooks.replayAll({ since: startOf(period) })
    toast.success(WEBHOOKS.replayed(replayed), skipped > 0 ? { description: WEBHOOKS.skipped(skipped) } : {})
    await reload()
  }
  const rows = deliveries.data?.pages.flatMap((page) => page.deliveries)
  return (
    <Page
      title={WEBHOOKS.title}
      description={WEBHOOKS.description}
      actions={
        <>
          <Button
            icon={<RotateCw aria-hidden="true" className="size-4" />}
            onClick={() => setReplaying(true)}
          >
            {WEBHOOKS.replayFailed}
          </Button>
          <Button
            look="primary"
            icon={<Send aria-hidden="true" className="size-4" />}
            isBusy={test.isPending}
            onClick={() => test.mutate()}
          >
            {WEBHOOKS.test}
          </Button>
        </>
      }
    >
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <Segmented label={WEBHOOKS.status} value={status} onChange={setStatus} options={STATUSES} />
        <Select
          aria-label={WEBHOOKS.since}
          className="w-44"
          value={period}
          onChange={setPeriod}
          options={PERIODS}
        />
      </div>
      {deliveries.error ? (
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
      {opened && <DeliveryDrawer id={opened} onClose={() => setOpened(undefined)} onReplayed={reload} />}
      {test.data && <TestDialog outcome={test.data} onClose={test.reset} />}
      {isReplaying && (
        <ConfirmDialog
          isOpen
          look="primary"
          onClose={() => setReplaying(false)}
          title={WEBHOOKS.replayFailedTitle}
          description={WEBHOOKS.replayFailedText(WEBHOOKS.periods[period])}
          action={WEBHOOKS.replayFailed}
          onConfirm={replayFailed}
        />
      )}
    </Page>
  )
}
