import type { EventName } from '../../events.ts'

/** A receiver of events: a target of a durable plugin, such as the URL of a webhook. */
export interface Receiver {
  /** A digest of the target: 16 hexadecimal digits. */
  id: string
  /** The host of the target, or the name of the plugin when the target is no URL. */
  name: string
}

/** `pending`: the delivery waits for its first or its next attempt. `failed`: no further attempt follows. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** One call of a receiver. Times in milliseconds. */
export interface DeliveryAttempt {
  /** When it began, since 1970. */
  at: number
  ms: number
  /** The HTTP status of the response; absent without a response. */
  status?: number
  /** Why it has failed; absent when the event was delivered. */
  error?: string
}

/** The delivery of one event to one receiver. Times are in milliseconds since 1970. */
export interface Delivery {
  /** Unique: the id of the event and that of the receiver. */
  id: string
  plugin: string
  receiver: Receiver
  /** The id of the event, the same for all receivers. */
  eventId: string
  event: EventName
  /** The client whose event it is. */
  clientId: string
  occurredAt: number
  /** The ID of the request that has caused the event; absent unless a trusted proxy has sent `X-Request-Id` or `traceparent`. */
  requestId?: string
  status: DeliveryStatus
  /** The most recent ones, oldest first. */
  attempts: readonly DeliveryAttempt[]
  /** The earliest time of the next attempt; absent unless `pending`. */
  nextAttemptAt?: number
  /** The number of replays. Attempts of earlier runs are ignored. */
  run: number
}

/** A delivery with the fields of its event. */
export interface LoggedDelivery extends Delivery {
  data: unknown
}

/** Selects deliveries. Absent members select all. */
export interface DeliveryFilter {
  status?: DeliveryStatus | undefined
  clientId?: string | undefined
  event?: EventName | undefined
  receiverId?: string | undefined
  /** Deliveries of events that happened at this time or later, in milliseconds since 1970. */
  since?: number | undefined
}

/** A page of a list, in the order of {@link positionOf}. */
export interface DeliveryPage extends DeliveryFilter {
  /** Only deliveries before this position, exclusive; undefined for the first page. */
  before?: string | undefined
  limit: number
}

/**
 * The latest deliveries of each receiver, for operators. The oldest ones of a receiver are dropped above a maximum, and all after a
 * retention time. A crash may lose the last changes: the queue, not this log, decides what is sent.
 */
export interface DeliveryLog {
  /** Adds a delivery, or replaces it. @throws Problem 503 */
  add(delivery: LoggedDelivery): Promise<void>
  /**
   * Changes a delivery in one step.
   *
   * @param change returns the changed delivery, or undefined to leave it; it may be called several times
   * @returns the changed delivery; undefined when it is not in the log, or was left
   * @throws Problem 503
   */
  change(id: string, change: (delivery: Delivery) => Delivery | undefined): Promise<Delivery | undefined>
  /** @throws Problem 503 */
  find(id: string): Promise<LoggedDelivery | undefined>
  /** Lists deliveries by the time of their events, latest first. @throws Problem 503 */
  list(page: DeliveryPage): Promise<Delivery[]>
}

/** The limits of a log. */
export interface DeliveryLogLimits {
  /** The maximum number of deliveries of a receiver, from 1. */
  maxPerReceiver: number
  /** How long a delivery is listed after its event, in milliseconds. */
  retentionMs: number
}

/** The position of a delivery in lists: positions are ordered as texts. */
export function positionOf({ occurredAt, id }: Pick<Delivery, 'occurredAt' | 'id'>): string {
  return `${timePosition(occurredAt)}${id}`
}

/** The position before that of each delivery of this time. It has 16 characters. */
export function timePosition(ms: number): string {
  return `${String(Math.max(0, ms)).padStart(15, '0')}:`
}

/** Whether a delivery is selected. */
export function isSelected(
  delivery: Delivery,
  { status, clientId, event, receiverId, since }: DeliveryFilter,
): boolean {
  return (
    (status === undefined || delivery.status === status) &&
    (clientId === undefined || delivery.clientId === clientId) &&
    (event === undefined || delivery.event === event) &&
    (receiverId === undefined || delivery.receiver.id === receiverId) &&
    (since === undefined || delivery.occurredAt >= since)
  )
}
