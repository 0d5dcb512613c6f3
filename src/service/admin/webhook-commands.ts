import { z } from 'zod'
import type { Commands } from '../../core/command.ts'
import { DELIVERY_STATUSES } from '../../core/ports/events/delivery-log.ts'
import { shownDelivery } from '../../core/shown-delivery.ts'
import type { Webhooks } from '../events/webhooks.ts'
import { command } from './commands.ts'

/** The commands of an operator for webhooks. Times are in milliseconds. */
export function createWebhookCommands({
  webhooks,
  now = Date.now,
}: {
  webhooks: Webhooks
  now?: () => number
}): Commands {
  const status = z.enum(DELIVERY_STATUSES).optional()
  const sinceMs = z.int().min(0)
  return {
    'webhook test': command(z.strictObject({}), (_, { signal }) =>
      webhooks.test({ clientId: undefined, signal }),
    ),
    /** `sinceMs`: how long ago the event happened at most. */
    'webhook list': command(
      z.strictObject({ status, sinceMs: sinceMs.optional(), limit: z.int().min(1).max(1000) }),
      async ({ sinceMs, ...page }) => {
        const since = sinceMs === undefined ? undefined : now() - sinceMs
        return (await webhooks.list({ ...page, since })).map((delivery) => shownDelivery(delivery, 'all'))
      },
    ),
    'webhook replay': command(
      z.union([z.strictObject({ id: z.string() }), z.strictObject({ sinceMs, status })]),
      async (request, { signal }) => {
        if ('id' in request) {
          await webhooks.replay(request.id, {})
          return { replayed: 1, skipped: 0 }
        }
        const { status = 'failed', sinceMs } = request
        return webhooks.replayAll({ status, since: now() - sinceMs }, signal)
      },
    ),
  }
}
