import type { Config } from '../../../config/load.ts'
import { guardedFetcher } from '../../adapters/fetcher/guarded.ts'
import { tracedFetcher } from '../../adapters/telemetry/traced-fetcher.ts'
import type { Log } from '../../core/log.ts'
import type { DeliveryLogLimits } from '../../core/ports/events/delivery-log.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import type { Tracing } from '../../core/ports/telemetry/tracing.ts'
import type { PluginSet } from '../../pipeline/load/load.ts'
import { createWebhookCommands } from '../../service/admin/webhook-commands.ts'
import { createEventDelivery } from '../../service/events/delivery.ts'
import { createDeliveryHistory } from '../../service/events/delivery-history.ts'
import { createTestReceivers } from '../../service/events/test-receivers.ts'
import { createWebhooks } from '../../service/events/webhooks.ts'
import type { Backends } from '../storage/backends.ts'

/** What observes the services. */
export interface Observed {
  /** Default: nothing is counted. */
  metrics?: Metrics | undefined
  /** Default: nothing is traced. */
  tracing?: Tracing | undefined
}

type EventPlugins = Pick<PluginSet, 'events'>

/** The delivery of events to plugins, with its log, its tests and its replays. */
export function openWebhooks(
  { jobs, deliveries }: Backends,
  { plugins: { events: plugins }, metrics, tracing, log }: { plugins: EventPlugins; log: Log } & Observed,
) {
  const guarded = guardedFetcher()
  const fetcher = tracing ? tracedFetcher(guarded, { tracing, target: 'webhook' }) : guarded
  const history = createDeliveryHistory({ deliveries, metrics, log })
  const test = createTestReceivers({ plugins, fetcher, log })
  const webhooks = createWebhooks({ test, deliveries, plugins, jobs })
  return {
    delivery: createEventDelivery({ plugins, jobs, fetcher, history, log }),
    webhooks,
    webhookCommands: createWebhookCommands({ webhooks }),
  }
}

/** The limits of the delivery log; undefined when it is off, or when there is no receiver whose deliveries it could have. */
export function deliveryLogLimits({
  config,
  plugins,
}: {
  config: Pick<Config, 'WEBHOOK_LOG_ENTRIES' | 'WEBHOOK_LOG_SECONDS'>
  plugins: EventPlugins
}): DeliveryLogLimits | undefined {
  const hasReceivers = plugins.events.some(
    ({ plugin, targets }) => plugin.durable && [...targets.values()].some((some) => some.length > 0),
  )
  if (!hasReceivers || config.WEBHOOK_LOG_ENTRIES === 0) return undefined
  return { maxPerReceiver: config.WEBHOOK_LOG_ENTRIES, retentionMs: config.WEBHOOK_LOG_SECONDS * 1000 }
}
