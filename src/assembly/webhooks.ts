import type { Config } from '../../config/load.ts'
import { guardedFetcher } from '../adapters/fetcher/guarded.ts'
import type { Log } from '../core/log.ts'
import type { DeliveryLogLimits } from '../core/ports/events/delivery-log.ts'
import type { LoadedEventPlugin } from '../pipeline/load/load.ts'
import { createEventDelivery } from '../service/events/delivery.ts'
import { createDeliveryHistory } from '../service/events/delivery-history.ts'
import { createTestReceivers } from '../service/events/test-receivers.ts'
import { createWebhooks } from '../service/events/webhooks.ts'
import type { Backends } from './backends.ts'

/** The delivery of events to plugins, with its log, its tests and its replays. */
export function openWebhooks(
  { jobs, deliveries }: Backends,
  { plugins, log }: { plugins: readonly LoadedEventPlugin[]; log: Log },
) {
  const fetcher = guardedFetcher()
  const history = createDeliveryHistory({ deliveries, log })
  const test = createTestReceivers({ plugins, fetcher, log })
  return {
    delivery: createEventDelivery({ plugins, jobs, fetcher, history, log }),
    webhooks: createWebhooks({ test, deliveries, plugins, jobs }),
  }
}

/** The limits of the delivery log; undefined when it is off, or when there is no receiver whose deliveries it could have. */
export function deliveryLogLimits(
  config: Pick<Config, 'WEBHOOK_LOG_ENTRIES' | 'WEBHOOK_LOG_SECONDS'>,
  plugins: readonly LoadedEventPlugin[],
): DeliveryLogLimits | undefined {
  const hasReceivers = plugins.some(
    ({ plugin, targets }) => plugin.durable && [...targets.values()].some((some) => some.length > 0),
  )
  if (!hasReceivers || config.WEBHOOK_LOG_ENTRIES === 0) return undefined
  return { maxPerReceiver: config.WEBHOOK_LOG_ENTRIES, retentionMs: config.WEBHOOK_LOG_SECONDS * 1000 }
}
