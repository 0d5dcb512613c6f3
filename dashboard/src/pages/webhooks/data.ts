import type {
  SessionClient,
  WebhookDelivery,
  WebhookReceiverList,
  Webhooks,
} from '../../../../client/index.ts'
import { nameOf } from '../../api/session.ts'
import { WEBHOOKS } from './texts.ts'

/** Whose deliveries the page shows: those of all clients, for owners, or of one. */
export interface Scope {
  webhooks: Webhooks
  /** The beginning of the keys of queries. */
  key: readonly ['webhooks', string]
  mayChange: boolean
}

type WebhookEventName = WebhookReceiverList['receivers'][number]['events'][number]

/** What is selected. `all` selects everything. */
export interface Selection {
  status: 'all' | WebhookDelivery['status']
  period: keyof typeof WEBHOOKS.periods
  event: 'all' | WebhookEventName
  receiver: string
  client: string
}

/** The parameters of a selection, for lists and replays. */
export function filterOf({ period, event, receiver, client }: Selection) {
  return {
    since: new Date(Date.now() - Number(period) * 1000).toISOString(),
    ...(event !== 'all' && { event }),
    ...(receiver !== 'all' && { receiver }),
    ...(client !== 'all' && { client }),
  }
}

/** The name of a receiver. Members see only the IDs of receivers, except for the first client. */
export function receiverName({ id, name }: WebhookDelivery['receiver']): string {
  return name ?? WEBHOOKS.receiverOf(id)
}

/** The name of the client with this ID, or the ID of a client that was deleted. */
export function clientName(clients: readonly SessionClient[], id: string): string {
  return nameOf(clients.find((one) => one.id === id) ?? { id })
}
