import { z } from 'zod'
import { EVENT_NAMES, type EventName } from '../../core/events.ts'
import { type ReceiverView, shownError } from '../../core/shown-delivery.ts'
import type { ReceiverTest } from '../../service/events/test-receivers.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import { receiver, statusOfResponse, viewOf, type WebhookServices } from './webhook.ts'

const webhookTest = replyOf('WebhookTest', 'The response of each receiver to a test event.', {
  eventId: z.string().describe('ID of the event, the `webhook-id` of its requests.'),
  receivers: z.array(
    z.object({
      receiver,
      delivered: z.boolean().describe('Whether the receiver has responded with a 2xx status.'),
      ms: z.int().describe('Duration of the request in milliseconds.'),
      status: statusOfResponse,
      body: z
        .string()
        .describe('First 1024 bytes of the response body. Only for the operator and the first client.')
        .optional(),
      error: z.string().describe('Why the event was not delivered.').optional(),
    }),
  ),
})
const receiverList = replyOf('WebhookReceiverList', 'The receivers that WEBHOOK_URL and plugins configure.', {
  receivers: z.array(
    z.object({
      ...receiver.shape,
      events: z
        .array(z.enum(EVENT_NAMES as [EventName, ...EventName[]]))
        .describe('Types of the events that it gets.'),
    }),
  ),
})

export const testWebhooks = endpoint({
  route: 'POST /v1/webhooks/test',
  id: 'testWebhooks',
  tag: 'Webhooks',
  summary: 'Send a test event to all receivers',
  description:
    'Sends the event `webhook.test` to each receiver at once, without retries and without an entry in the log of deliveries.',
  access: { operatorOrSecret: 'manage' },
  limited: 'webhook',
  responses: { 200: json(webhookTest, 'The response of each receiver.') },
  problems: ['409 no_webhook_receiver', '429 too_many_webhook_tests'],
  audit: 'webhook.test',
  examples: [{ id: 'off', summary: 'Without receivers', status: 409 }],

  async handle({ webhooks }: WebhookServices, { caller: { client }, signal }) {
    const { eventId, receivers } = await webhooks.test({ clientId: client?.id, signal })
    const body: z.input<typeof webhookTest> = {
      eventId,
      receivers: receivers.map((one) => shownTest(one, viewOf(client))),
    }
    return { json: body }
  },
})

export const listReceivers = endpoint({
  route: 'GET /v1/webhooks/receivers',
  id: 'listReceivers',
  tag: 'Webhooks',
  summary: 'List the receivers and their events',
  access: { operatorOrSecret: 'read' },
  query: {},
  responses: { 200: json(receiverList, 'All receivers.') },
  examples: [{ id: 'off', summary: 'Without receivers', status: 200, response: { receivers: [] } }],

  handle({ webhooks }: WebhookServices, { caller: { client } }) {
    const body: z.input<typeof receiverList> = {
      receivers: webhooks.receivers().map(({ id, name, events }) => ({
        id,
        ...(viewOf(client) === 'all' ? { name } : {}),
        events: [...events],
      })),
    }
    return { json: body }
  },
})

function shownTest({ receiver: to, body, error, ...outcome }: ReceiverTest, view: ReceiverView) {
  return {
    receiver: view === 'all' ? to : { id: to.id },
    ...outcome,
    ...(view === 'all' && body !== undefined ? { body } : {}),
    ...(error === undefined ? {} : { error: shownError(error, outcome.status, view) }),
  }
}
