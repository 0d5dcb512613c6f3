import { useMutation, useQuery } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import type { WebhookDeliveryWithPayload } from '../../../../client/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { formatAgo, formatTime } from '../../ui/format.ts'
import { Drawer } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { receiverName, type Scope } from './data.ts'
import { DeliveryStatus } from './table.tsx'
import { WEBHOOKS } from './texts.ts'

// While the next attempt is due, and after a replay.
const POLL_MS = 2000

/** One delivery: its request, the response to each attempt, and a button that sends it again. */
export function DeliveryDrawer({
  scope: { webhooks, key, mayChange },
  id,
  onClose,
  onReplayed,
}: {
  scope: Scope
  id: string
  onClose: () => void
  onReplayed: () => Promise<void>
}) {
  const { data, error, refetch } = useQuery({
    queryKey: [...key, 'delivery', id],
    queryFn: ({ signal }) => webhooks.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? POLL_MS : false),
  })
  const replay = useMutation({
    mutationFn: () => webhooks.replay(id),
    onSuccess: async () => {
      toast.success(WEBHOOKS.replayed(1))
      await onReplayed()
    },
    onError: toast.failure,
  })
  return (
    <Drawer isOpen onClose={onClose} title={data?.event ?? WEBHOOKS.event}>
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!error && !data && <SkeletonRows />}
      {data && (
        <div className="flex flex-col gap-5 p-5">
          <div className="flex items-center justify-between gap-3">
            <span className="flex flex-wrap items-center gap-2 text-muted text-sm">
              <DeliveryStatus {...data} />
              {receiverName(data.receiver)} · {formatTime(data.occurredAt)}
            </span>
            {mayChange && (
              <Button
                icon={<RotateCw aria-hidden="true" className="size-4" />}
                isBusy={replay.isPending}
                onClick={() => replay.mutate()}
              >
                {WEBHOOKS.replay}
              </Button>
            )}
          </div>
          <section>
            <h3 className="mb-1.5 font-medium text-sm">{WEBHOOKS.eventId}</h3>
            <CopyField value={data.eventId} label={WEBHOOKS.copyId} />
          </section>
          <Attempts delivery={data} />
          <section>
            <h3 className="mb-1.5 font-medium text-sm">{WEBHOOKS.request}</h3>
            <pre className="whitespace-pre-wrap break-all rounded-md border border-line bg-sunken p-3 font-mono text-xs">
              {JSON.stringify(data.payload, null, 2)}
            </pre>
          </section>
        </div>
      )}
    </Drawer>
  )
}

function Attempts({ delivery: { attempts, nextAttemptAt } }: { delivery: WebhookDeliveryWithPayload }) {
  return (
    <section>
      <h3 className="mb-1.5 font-medium text-sm">{WEBHOOKS.responses}</h3>
      {attempts.length === 0 && <p className="text-muted text-sm">{WEBHOOKS.noAttempts}</p>}
      <ol className="flex flex-col gap-2">
        {attempts.toReversed().map(({ at, ms, status, error }) => (
          <li key={at} className="rounded-md border border-line px-3 py-2 text-sm">
            <span className="flex items-center gap-2">
              <Badge tone={error ? 'danger' : 'success'}>{status ?? WEBHOOKS.noResponse}</Badge>
              <span className="text-muted">
                {formatTime(at)} · {WEBHOOKS.ms(ms)}
              </span>
            </span>
            {error && <p className="mt-1 break-words text-danger-ink">{error}</p>}
          </li>
        ))}
      </ol>
      {nextAttemptAt && (
        <p className="mt-2 text-muted text-sm">{WEBHOOKS.nextAttempt(formatAgo(nextAttemptAt))}</p>
      )}
    </section>
  )
}
