import { throttled } from '../../core/async/throttle-log.ts'
import type { EventName } from '../../core/events.ts'
import type { Log } from '../../core/log.ts'
import { logReason } from '../../core/log-reason.ts'
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryLog,
  DeliveryStatus,
  Receiver,
} from '../../core/ports/events/delivery-log.ts'
import type { Metrics, WebhookOutcome } from '../../core/ports/metrics.ts'
import type { WorkContext } from '../../core/request-context.ts'

/** An event in the queue of a durable plugin: the data of a job. */
export interface QueuedEvent {
  name: EventName
  event: unknown
  id: string
  /** In ISO 8601. */
  occurredAt: string
  /** The id of the receiver, see `targetDigest`. */
  target: string
  /** The number of the replay; absent for the first run. */
  run?: number
  /** The request that has caused the event, if it has a context: see `requestLog`. Absent in a replay. */
  request?: WorkContext
}

/** The result of one attempt. Times in milliseconds. */
export interface AttemptResult {
  /** When it began, since 1970. */
  at: number
  ms: number
  /** The HTTP status of the response, if there was one. */
  status: number | undefined
  /** Why it has failed; undefined when the event was delivered. */
  error: unknown
  /** The wait before the next attempt; undefined when there is none. */
  retryInMs: number | undefined
  /** Whether the receiver gets no events any more: it is no longer configured, or wants none. Absent: no. */
  isDropped?: boolean
}

/** Records deliveries in the log. It never throws: an event is sent whether or not it can be recorded. */
export interface DeliveryHistory {
  /** Records that an event was queued. Call it before the event is queued. */
  queued(event: QueuedEvent, place: { plugin: string; receiver: Receiver }): Promise<void>
  /** Whether a replay has taken the place of this run. */
  isSuperseded(event: QueuedEvent): Promise<boolean>
  /** Records the end of an attempt. */
  attempted(event: QueuedEvent, result: AttemptResult): Promise<void>
}

// Three runs of eleven attempts.
const ATTEMPTS_MAX = 33

/** The id of a delivery in the log. */
export function deliveryId({ id, target }: Pick<QueuedEvent, 'id' | 'target'>): string {
  return `${id}-${target}`
}

/** @param options.deliveries where they are recorded; undefined when the log is off. The metrics count attempts anyway */
export function createDeliveryHistory({
  deliveries,
  metrics,
  log,
}: {
  deliveries: DeliveryLog | undefined
  /** Default: attempts are not counted. */
  metrics?: Pick<Metrics, 'webhookAttempted'> | undefined
  log: Log
}): DeliveryHistory {
  const warn = throttled((err) => log.warn({ err }, 'the delivery log of events cannot be written'))

  async function quietly<T>(work: (log: DeliveryLog) => Promise<T>): Promise<T | undefined> {
    try {
      return deliveries && (await work(deliveries))
    } catch (error) {
      warn(error as Error)
      return undefined
    }
  }

  return {
    async queued(queued, { plugin, receiver }) {
      await quietly((log) =>
        log.add({
          id: deliveryId(queued),
          plugin,
          receiver,
          eventId: queued.id,
          event: queued.name,
          clientId: (queued.event as { clientId: string }).clientId,
          occurredAt: Date.parse(queued.occurredAt),
          status: 'pending',
          attempts: [],
          nextAttemptAt: Date.now(),
          run: 0,
          ...(queued.request ? { requestId: queued.request.requestId } : {}),
          data: queued.event,
        }),
      )
    },

    async isSuperseded(queued) {
      const delivery = await quietly((log) => log.find(deliveryId(queued)))
      return delivery !== undefined && delivery.run > runOf(queued)
    },

    async attempted(queued, result) {
      metrics?.webhookAttempted({ outcome: outcomeOf(result), seconds: result.ms / 1000 })
      await quietly((log) =>
        log.change(deliveryId(queued), (delivery) =>
          delivery.run === runOf(queued) ? afterAttempt(delivery, result) : undefined,
        ),
      )
    },
  }
}

function outcomeOf({ error, retryInMs, isDropped }: AttemptResult): WebhookOutcome {
  if (error === undefined) return 'delivered'
  if (isDropped) return 'dropped'
  return retryInMs === undefined ? 'failed' : 'retried'
}

function runOf({ run = 0 }: QueuedEvent): number {
  return run
}

function afterAttempt(
  { nextAttemptAt: _, ...delivery }: Delivery,
  { at, ms, status, error, retryInMs }: AttemptResult,
): Delivery {
  const attempt: DeliveryAttempt = {
    at,
    ms,
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error: logReason(error) }),
  }
  const attempts = [...delivery.attempts, attempt].slice(-ATTEMPTS_MAX)
  const next: DeliveryStatus =
    error === undefined ? 'delivered' : retryInMs === undefined ? 'failed' : 'pending'
  return {
    ...delivery,
    attempts,
    status: next,
    ...(next === 'pending' ? { nextAttemptAt: at + ms + (retryInMs ?? 0) } : {}),
  }
}
