import {
  type Delivery,
  type DeliveryFilter,
  type DeliveryLog,
  type DeliveryPage,
  type LoggedDelivery,
  positionOf,
} from '../../core/ports/events/delivery-log.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import { Problem } from '../../core/problem.ts'
import type { LoadedEventPlugin } from '../../pipeline/load/load.ts'
import type { QueuedEvent } from './delivery-history.ts'
import { kindOf, type ReceiverEvents, receiversOf, targetDigest } from './receiver.ts'
import type { TestReceivers } from './test-receivers.ts'

/** Tests of receivers, the log of deliveries, and replays. */
export interface Webhooks {
  test: TestReceivers
  /** The configured receivers, each with the events that it gets. */
  receivers(): readonly ReceiverEvents[]
  /** Lists deliveries by the time of their events, latest first. @throws Problem 503 */
  list(page: DeliveryPage): Promise<Delivery[]>
  /** @throws Problem 404, 503 */
  find(id: string, owner: Owner): Promise<LoggedDelivery>
  /**
   * Sends a delivery again, with the same event id. Its remaining attempts are replaced by new ones. Does nothing while an earlier
   * replay of it waits in the queue.
   * @throws Problem 404; 409 when its receiver is no longer configured; 503
   */
  replay(id: string, owner: Owner): Promise<Delivery>
  /** Replays all selected deliveries, oldest first. Ends early when `signal` aborts. @throws Problem 503 */
  replayAll(filter: DeliveryFilter, signal: AbortSignal): Promise<ReplayReport>
}

/** The client whose deliveries are accessible; absent for those of all clients. */
export type Owner = Pick<DeliveryFilter, 'clientId'>

/** The outcome of a replay of several deliveries. */
export interface ReplayReport {
  replayed: number
  /** Deliveries whose receiver is no longer configured, or that were dropped from the log in the meantime. */
  skipped: number
}

const PAGE = 1000
// An attempt that has been due for longer may have been lost, for example with the data of Redis.
const QUEUED_MS = 60_000

/** @param deliveries the log; undefined when it is off, which is like an empty one */
export function createWebhooks({
  test,
  deliveries,
  plugins,
  jobs,
  now = Date.now,
}: {
  test: TestReceivers
  deliveries: DeliveryLog | undefined
  plugins: readonly LoadedEventPlugin[]
  jobs: Jobs
  now?: () => number
}): Webhooks {
  const isConfigured = ({ plugin: name, event, receiver }: Delivery) =>
    plugins.some(
      ({ plugin, targets }) =>
        plugin.name === name && targets.get(event)?.some((target) => targetDigest(target) === receiver.id),
    )

  /** Whether a replay waits for its next attempt, which is due. */
  function isQueuedReplay({ status, run, nextAttemptAt = 0 }: Delivery): boolean {
    const lateMs = now() - nextAttemptAt
    return status === 'pending' && run > 0 && lateMs >= 0 && lateMs < QUEUED_MS
  }

  async function find(id: string, { clientId }: Owner): Promise<LoggedDelivery> {
    const delivery = await deliveries?.find(id)
    if (delivery && (clientId === undefined || delivery.clientId === clientId)) return delivery
    throw new Problem({
      status: 404,
      code: 'delivery_not_found',
      detail: 'There is no such delivery, or it is no longer in the log.',
    })
  }

  async function replay(id: string, owner: Owner): Promise<Delivery> {
    const { data, ...before } = await find(id, owner)
    if (!isConfigured(before))
      throw new Problem({
        status: 409,
        code: 'receiver_removed',
        detail: 'The receiver of this delivery is no longer configured for this event.',
      })
    let queued: Delivery | undefined
    const changed = await deliveries?.change(id, (delivery) => {
      // Another job would be sent no earlier. Any number of them would delay the events of other clients.
      queued = isQueuedReplay(delivery) ? delivery : undefined
      if (queued) return undefined
      return { ...delivery, status: 'pending', nextAttemptAt: now(), run: delivery.run + 1 }
    })
    if (queued) return queued
    if (!changed) return replay(id, owner)
    const { plugin, event, eventId, occurredAt, receiver, run } = changed
    const job: QueuedEvent = {
      name: event,
      event: data,
      id: eventId,
      occurredAt: new Date(occurredAt).toISOString(),
      target: receiver.id,
      run,
    }
    try {
      // A job that has failed cannot be added again, so each run has a job of its own.
      await jobs.enqueue({ kind: kindOf({ name: plugin }), id: `${id}~${run}`, data: job })
    } catch (error) {
      // Without the new job, the attempts of the earlier run continue.
      await deliveries?.change(id, (delivery) => (delivery.run === run ? before : undefined))
      throw error
    }
    return changed
  }

  return {
    test,
    receivers: () => receiversOf(plugins),
    list: async (page) => (await deliveries?.list(page)) ?? [],
    find,
    replay,
    async replayAll(filter, signal) {
      const ids: string[] = []
      for (let before: string | undefined; deliveries; ) {
        const page = await deliveries.list({ ...filter, before, limit: PAGE })
        ids.push(...page.map(({ id }) => id))
        const last = page.at(-1)
        if (!last || page.length < PAGE) break
        before = positionOf(last)
      }
      const report: ReplayReport = { replayed: 0, skipped: 0 }
      for (const id of ids.reverse()) {
        signal.throwIfAborted()
        const isReplayed = await replay(id, filter).then(
          () => true,
          (error) => {
            if (error instanceof Problem && error.status < 500) return false
            throw error
          },
        )
        report[isReplayed ? 'replayed' : 'skipped'] += 1
      }
      return report
    },
  }
}
