import { Webhook } from 'lucide-react'
import type { WebhookReceiverList } from '../../../../client/index.ts'
import { useMay } from '../../api/session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/page.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { receiverName } from './data.ts'
import { WEBHOOKS } from './texts.ts'

/** The receivers, each with the events that it gets. */
export function Receivers({ receivers }: WebhookReceiverList) {
  const isOwner = useMay('owner')
  if (receivers.length === 0)
    return (
      <Card>
        <EmptyState icon={<Webhook />} title={WEBHOOKS.noReceiversTitle}>
          {isOwner ? WEBHOOKS.noReceiversText : WEBHOOKS.noReceiversMember}
        </EmptyState>
      </Card>
    )
  return (
    <Card title={WEBHOOKS.receivers} description={isOwner && WEBHOOKS.receiversText} isFlush className="mb-5">
      <ul aria-label={WEBHOOKS.receivers} className="divide-y divide-line">
        {receivers.map(({ events, ...receiver }) => (
          <li
            key={receiver.id}
            className="flex flex-col gap-2 px-4 py-3 text-sm sm:flex-row sm:items-center sm:gap-4"
          >
            <span className="min-w-0 flex-1 break-words font-medium">{receiverName(receiver)}</span>
            <span className="flex flex-wrap gap-1.5 sm:max-w-[70%] sm:justify-end">
              {events.length === 0 && <Badge>{WEBHOOKS.noEvents}</Badge>}
              {events.map((event) => (
                <Badge key={event}>{event}</Badge>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
