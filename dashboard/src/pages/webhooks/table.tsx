import type { WebhookDelivery } from '../../../../client/index.ts'
import { useSession } from '../../api/session.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { formatAgo, formatTime } from '../../ui/format.ts'
import { type Column, Table } from '../../ui/table.tsx'
import { clientName, receiverName } from './data.ts'
import { WEBHOOKS } from './texts.ts'

const TONES: Readonly<Record<string, Tone>> = { delivered: 'success', failed: 'danger', pending: 'warning' }

/** The state of a delivery. A pending one that was refused before is named differently from a new one. */
export function DeliveryStatus({ status, attempts }: Pick<WebhookDelivery, 'status' | 'attempts'>) {
  const isRetrying = status === 'pending' && attempts.length > 0
  return (
    <Badge tone={TONES[status] ?? 'neutral'}>
      {isRetrying ? WEBHOOKS.retrying : (WEBHOOKS.statuses[status] ?? status)}
    </Badge>
  )
}

/** The status and the duration of the latest response. */
function LastResponse({ attempts }: Pick<WebhookDelivery, 'attempts'>) {
  const last = attempts.at(-1)
  if (!last) return null
  return (
    <span title={last.error} className="whitespace-nowrap tabular-nums">
      {last.status ?? WEBHOOKS.noResponse}
      <span className="text-muted"> · {WEBHOOKS.ms(last.ms)}</span>
    </span>
  )
}

/** The deliveries, the latest events first. */
export function DeliveriesTable({
  deliveries,
  onOpen,
}: {
  deliveries: readonly WebhookDelivery[]
  onOpen: (id: string) => void
}) {
  const { clients } = useSession()
  const columns: Array<Column<WebhookDelivery>> = [
    {
      key: 'event',
      header: WEBHOOKS.event,
      className: 'w-full max-w-0',
      cell: ({ id, event, clientId, occurredAt }) => (
        <>
          <button
            type="button"
            className="block max-w-full truncate font-medium hover:underline"
            onClick={(click) => {
              click.stopPropagation()
              onOpen(id)
            }}
          >
            {event}
          </button>
          <span className="block truncate text-muted">
            <span className="md:hidden">{formatAgo(occurredAt)} · </span>
            {clientName(clients, clientId)}
          </span>
        </>
      ),
    },
    {
      key: 'status',
      header: WEBHOOKS.status,
      cell: (one) => (
        <span className="flex flex-col items-start gap-1">
          <DeliveryStatus {...one} />
          <span className="text-xs sm:hidden">
            <LastResponse attempts={one.attempts} />
          </span>
        </span>
      ),
    },
    {
      key: 'response',
      header: WEBHOOKS.response,
      hiddenBelow: 'sm',
      cell: ({ attempts }) => <LastResponse attempts={attempts} />,
    },
    {
      key: 'receiver',
      header: WEBHOOKS.receiver,
      hiddenBelow: 'sm',
      className: 'whitespace-nowrap',
      cell: ({ receiver }) => receiverName(receiver),
    },
    {
      key: 'attempts',
      header: WEBHOOKS.attempts,
      hiddenBelow: 'lg',
      isNumeric: true,
      cell: ({ attempts }) => attempts.length,
    },
    {
      key: 'time',
      header: WEBHOOKS.time,
      hiddenBelow: 'md',
      className: 'whitespace-nowrap text-muted',
      cell: ({ occurredAt }) => <span title={formatTime(occurredAt)}>{formatAgo(occurredAt)}</span>,
    },
  ]
  return (
    <Table
      label={WEBHOOKS.list}
      columns={columns}
      rows={deliveries}
      keyOf={({ id }) => id}
      onRowClick={({ id }) => onOpen(id)}
    />
  )
}
