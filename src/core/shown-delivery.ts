import type { Delivery, LoggedDelivery } from './ports/events/delivery-log.ts'

/** A delivery as JSON for operators and clients. Times in ISO 8601. */
export interface ShownDelivery extends Pick<Delivery, 'id' | 'event' | 'eventId' | 'clientId' | 'status'> {
  receiver: { id: string; name?: string }
  occurredAt: string
  /** Absent unless a trusted proxy has sent `X-Request-Id` or `traceparent`. */
  requestId?: string
  attempts: ShownAttempt[]
  nextAttemptAt?: string
}

/** One call of a receiver as JSON. */
export interface ShownAttempt {
  at: string
  ms: number
  status?: number
  error?: string
}

/** A delivery with the JSON that the receiver gets. */
export interface ShownDeliveryWithPayload extends ShownDelivery {
  payload: { type: string; timestamp: string; data: unknown }
}

/** What a caller may know of receivers, which belong to the operator. `outcome`: neither names nor texts of receivers. */
export type ReceiverView = 'all' | 'outcome'

/** Shows a delivery, without what the caller may not know. */
export function shownDelivery(delivery: Delivery, view: ReceiverView): ShownDelivery {
  const { id, event, eventId, clientId, receiver, status, occurredAt } = delivery
  const { requestId, attempts, nextAttemptAt } = delivery
  return {
    id,
    event,
    eventId,
    clientId,
    receiver: view === 'all' ? receiver : { id: receiver.id },
    status,
    occurredAt: iso(occurredAt),
    ...(requestId === undefined ? {} : { requestId }),
    attempts: attempts.map(({ at, error, ...rest }) => ({
      at: iso(at),
      ...rest,
      ...(error === undefined ? {} : { error: shownError(error, rest.status, view) }),
    })),
    ...(nextAttemptAt === undefined ? {} : { nextAttemptAt: iso(nextAttemptAt) }),
  }
}

/** The same, with the payload. It belongs to the client of the event, so each view has it. */
export function shownDeliveryWithPayload(
  delivery: LoggedDelivery,
  view: ReceiverView,
): ShownDeliveryWithPayload {
  const { event, occurredAt, data } = delivery
  return { ...shownDelivery(delivery, view), payload: { type: event, timestamp: iso(occurredAt), data } }
}

/** The reason of a failure. It may contain addresses of the operator's network. */
export function shownError(error: string, status: number | undefined, view: ReceiverView): string {
  if (view === 'all') return error
  return status === undefined ? 'the receiver did not respond' : `the receiver responded with ${status}`
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
