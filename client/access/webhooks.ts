import { itemsOf } from '../files/pages.ts'
import type {
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookDeliveryWithPayload,
  WebhookReceiverList,
  WebhookReplay,
  WebhookReplayReport,
  WebhookTest,
} from '../generated/api.ts'
import type { Api, CallOptions } from '../http/request.ts'

/** Which deliveries a list has. */
export interface DeliveryListOptions extends CallOptions {
  status?: WebhookDelivery['status']
  /** Only events of this type. */
  event?: NonNullable<WebhookReplay['event']>
  /** Only deliveries to the receiver with this ID. */
  receiver?: string
  /** Only events of the client with this ID. For the operator. */
  client?: string
  /** Only events that happened at this time or later, in ISO 8601. */
  since?: string
  /** Deliveries per page, from 1 to 1000. Default: 100. */
  limit?: number
}

/**
 * Tests of webhook receivers, deliveries and replays: of the client of the secret; without a secret those of all clients, for a
 * signed-in operator. All calls reject with a {@link SluiceError}.
 */
export interface Webhooks {
  /** Sends a test event to all receivers, and returns their responses. */
  test(options?: CallOptions): Promise<WebhookTest>
  /** Returns the configured receivers, each with the types of its events. */
  receivers(options?: CallOptions): Promise<WebhookReceiverList['receivers']>
  /** Lists all deliveries, the latest events first. */
  list(options?: DeliveryListOptions): AsyncIterable<WebhookDelivery>
  /** Returns one page of the list, and the cursor of the next one. */
  page(options?: DeliveryListOptions & { cursor?: string | undefined }): Promise<WebhookDeliveryList>
  /** Returns one delivery, with its payload. */
  get(id: string, options?: CallOptions): Promise<WebhookDeliveryWithPayload>
  /** Sends a delivery again, with the same event id. */
  replay(id: string, options?: CallOptions): Promise<WebhookDelivery>
  /** Sends all selected deliveries again, by default the failed ones. */
  replayAll(selection: WebhookReplay, options?: CallOptions): Promise<WebhookReplayReport>
}

/** Creates the calls for webhooks. */
export function createWebhooks(api: Api): Webhooks {
  const path = (id: string) => `/v1/webhooks/deliveries/${encodeURIComponent(id)}`
  const page: Webhooks['page'] = ({ signal, ...query } = {}) =>
    api.json({ path: '/v1/webhooks/deliveries', query, signal })
  return {
    test: ({ signal } = {}) => api.json({ method: 'POST', path: '/v1/webhooks/test', signal }),
    receivers: async ({ signal } = {}) => {
      const { receivers } = await api.json<WebhookReceiverList>({ path: '/v1/webhooks/receivers', signal })
      return receivers
    },
    list: (options = {}) =>
      itemsOf(async (cursor) => {
        const { deliveries, cursor: next } = await page({ ...options, cursor })
        return { items: deliveries, cursor: next }
      }),
    page,
    get: (id, { signal } = {}) => api.json({ path: path(id), signal }),
    replay: (id, { signal } = {}) => api.json({ method: 'POST', path: `${path(id)}/replay`, signal }),
    replayAll: (json, { signal } = {}) =>
      api.json({ method: 'POST', path: '/v1/webhooks/replay', json, signal }),
  }
}
