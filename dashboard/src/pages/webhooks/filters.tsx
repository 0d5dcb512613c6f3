import type { WebhookReceiverList } from '../../../../client/index.ts'
import { nameOf, useMay, useSession } from '../../api/session.ts'
import { Segmented } from '../../ui/forms/choices.tsx'
import { Select } from '../../ui/forms/select.tsx'
import { receiverName, type Selection } from './data.ts'
import { WEBHOOKS } from './texts.ts'

const PERIODS = Object.entries(WEBHOOKS.periods).map(([value, label]) => ({
  value: value as Selection['period'],
  // Also part of a sentence elsewhere.
  label: `${label.charAt(0).toUpperCase()}${label.slice(1)}`,
}))
const STATUSES = Object.entries(WEBHOOKS.statuses).map(([value, label]) => ({
  value: value as Selection['status'],
  label,
}))

const withAll = <Value extends string>(
  label: string,
  options: ReadonlyArray<{ value: Value; label: string }>,
) => [{ value: 'all' as const, label }, ...options]

/** Selects deliveries. A choice of one thing is left out. */
export function Filters({
  receivers,
  value,
  onChange,
}: WebhookReceiverList & { value: Selection; onChange: (value: Selection) => void }) {
  const { clients } = useSession()
  const isOwner = useMay('owner')
  const change = (part: Partial<Selection>) => onChange({ ...value, ...part })
  const events = [...new Set(receivers.flatMap((one) => one.events))].sort()
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <Segmented
        label={WEBHOOKS.status}
        value={value.status}
        onChange={(status) => change({ status })}
        options={STATUSES}
      />
      <Select
        aria-label={WEBHOOKS.since}
        className="w-40"
        value={value.period}
        onChange={(period) => change({ period })}
        options={PERIODS}
      />
      {events.length > 1 && (
        <Select
          aria-label={WEBHOOKS.event}
          className="w-40"
          value={value.event}
          onChange={(event) => change({ event })}
          options={withAll(
            WEBHOOKS.anyEvent,
            events.map((event) => ({ value: event, label: event })),
          )}
        />
      )}
      {receivers.length > 1 && (
        <Select
          aria-label={WEBHOOKS.receiver}
          className="w-40"
          value={value.receiver}
          onChange={(receiver) => change({ receiver })}
          options={withAll(
            WEBHOOKS.anyReceiver,
            receivers.map((one) => ({ value: one.id, label: receiverName(one) })),
          )}
        />
      )}
      {isOwner && clients.length > 1 && (
        <Select
          aria-label={WEBHOOKS.client}
          className="w-40"
          value={value.client}
          onChange={(client) => change({ client })}
          options={withAll(
            WEBHOOKS.anyClient,
            clients.map((one) => ({ value: one.id, label: nameOf(one) })),
          )}
        />
      )}
    </div>
  )
}
