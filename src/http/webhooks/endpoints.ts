import { getDelivery, listDeliveries, replayDeliveries, replayDelivery } from './deliveries.ts'
import { listReceivers, testWebhooks } from './receivers.ts'

/** Tests of webhook receivers, the log of deliveries, and replays: for the operator, and for the secret of a client. */
export const WEBHOOKS = [
  testWebhooks,
  listReceivers,
  listDeliveries,
  getDelivery,
  replayDelivery,
  replayDeliveries,
]
