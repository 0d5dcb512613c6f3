import type { WebhookDelivery } from '../../../../client/index.ts'
import { WEBHOOKS } from '../../texts/webhooks.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { formatAgo, formatTime } from '../../ui/format.ts'
import { type Column, Table } from '../../ui/table.tsx'

const TONES: Readonly<Record<string, Tone>> = { delivered: 'success', failed: 'danger', pending: 'warning' }

/** The state of a delivery. */
export function DeliveryStatus({ status }: Pick<WebhookDelivery, 'status'>) {
  return <Badge tone={TONES[status] ?? 'neutral'}>{WEBHOOKS.statuses[status] ?? status}</Badge>
}

/** The deliveries, the latest events first. */
export function DeliveriesTable({
  deliveries,
  onOpen,
}: {
  deliveries: readonly WebhookDelivery[]
  onOpen: (id: string) => void
}) {
  const columns: Array<Column<WebhookDelivery>> = [
    {
      key: 'event',
      header: WEBHOOKS.event,
      className: 'w-full max-w-0',
      cell: ({ id, event, clientId }) => (
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
          <span className="block truncate text-muted">{clientId}</span>
        </>
      ),
    },
    { key: 'status', header: WEBHOOKS.status, cell: (one) => <DeliveryStatus status={one.status} /> },
    {
      key: 'receiver',
      header: WEBHOOKS.receiver,
      hiddenBelow: 'sm',
      className: 'whitespace-nowrap',
      cell: ({ receiver }) => receiver.name ?? receiver.id,
    },
    {
      key: 'attempts',
      header: WEBHOOKS.attempts,
      hiddenBelow: 'md',
      isNumeric: true,
      cell: ({ attempts }) => attempts.length,
    },
    {
      key: 'time',
      header: WEBHOOKS.time,
      hiddenBelow: 'sm',
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
