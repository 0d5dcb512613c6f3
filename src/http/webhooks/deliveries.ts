import { z } from 'zod'
import type { Client } from '../../core/clients/client.ts'
import { EVENT_NAMES, type EventName } from '../../core/events.ts'
import { DELIVERY_STATUSES, type DeliveryFilter, positionOf } from '../../core/ports/events/delivery-log.ts'
import { badParameter } from '../../core/problem.ts'
import { shownDelivery, shownDeliveryWithPayload } from '../../core/shown-delivery.ts'
import { listed } from '../../core/text/listed.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { bodyOf, replyOf } from '../endpoint/named.ts'
import { A_TIME, instantParameter, matching, oneOf, pageOf, text } from '../endpoint/query.ts'
import { nextCursor } from '../files/cursor.ts'
import { instant } from '../wire/instant.ts'
import { receiver, statusOfResponse, viewOf, type WebhookServices } from './webhook.ts'

const deliveryAttempt = replyOf('DeliveryAttempt', 'One attempt to deliver an event.', {
  at: instant('When the request began.'),
  ms: z.int().describe('Duration in milliseconds.'),
  status: statusOfResponse,
  error: z.string().describe('Why the attempt has failed. Absent when the event was delivered.').optional(),
})
const webhookDelivery = replyOf('WebhookDelivery', 'The delivery of an event to a receiver.', {
  id: z.string().describe('ID of the delivery.'),
  event: z.string().describe('Type of the event: `original.stored`.'),
  eventId: z.string().describe('ID of the event, the `webhook-id` of its requests.'),
  clientId: z.string().describe('ID of the client of the event.'),
  receiver,
  status: z.enum(DELIVERY_STATUSES).describe('`failed`: no further attempt follows.'),
  occurredAt: instant('When the event happened.'),
  requestId: z
    .string()
    .describe(
      'ID of the request that has caused the event, its `X-Request-Id`. Absent unless a trusted proxy has sent `X-Request-Id` or `traceparent`.',
    )
    .optional(),
  attempts: z.array(deliveryAttempt).describe('The latest 33 attempts, oldest first.'),
  nextAttemptAt: instant('Earliest time of the next attempt, if one follows.').optional(),
})
const deliveryList = replyOf('WebhookDeliveryList', 'A page of deliveries, the latest events first.', {
  deliveries: z.array(webhookDelivery),
  cursor: nextCursor,
})
const deliveryWithPayload = replyOf('WebhookDeliveryWithPayload', 'A delivery and its payload.', {
  ...webhookDelivery.shape,
  payload: z
    .object({
      type: z.string(),
      timestamp: instant('When the event happened.'),
      data: z.record(z.string(), z.unknown()).describe('Fields of the event.'),
    })
    .describe('JSON that the receiver gets.'),
})
const replayReport = replyOf('WebhookReplayReport', 'The number of replayed deliveries.', {
  replayed: z.int().describe('Number of deliveries that are sent again.'),
  skipped: z.int().describe('Number of deliveries whose receiver is no longer configured.'),
})

const A_RECEIVER = 'the ID of a receiver: 16 hexadecimal digits'
const RECEIVER_ID = /^[\da-f]{16}$/
const OF_STATUS = 'Only deliveries with this status.'
const OF_EVENT = 'Only events of this type.'
const OF_RECEIVER = 'Only deliveries to the receiver with this ID.'
const OF_CLIENT = 'Only events of the client with this ID. For the operator.'

const webhookReplay = bodyOf('WebhookReplay', {
  since: z.iso
    .datetime({ offset: true, error: A_TIME })
    .describe('Only deliveries of events that happened at this time or later, in ISO 8601.'),
  status: z
    .enum(DELIVERY_STATUSES, `one of ${listed(DELIVERY_STATUSES)}`)
    .describe('Default: `failed`.')
    .optional(),
  event: z
    .enum(EVENT_NAMES as [EventName, ...EventName[]], `one of ${listed(EVENT_NAMES)}`)
    .describe(OF_EVENT)
    .optional(),
  receiver: z.string(A_RECEIVER).regex(RECEIVER_ID, A_RECEIVER).describe(OF_RECEIVER).optional(),
  client: z.string('the ID of a client').describe(OF_CLIENT).optional(),
})

const NO_DELIVERY = {
  ...{ id: 'none', summary: 'A delivery that does not exist', parameters: { id: 'evt_1-a' }, status: 404 },
}

export const listDeliveries = endpoint({
  route: 'GET /v1/webhooks/deliveries',
  id: 'listDeliveries',
  tag: 'Webhooks',
  summary: 'List deliveries, the latest events first',
  description: 'With the secret of a client, the list has the events of this client.',
  access: { operatorOrSecret: 'read' },
  query: {
    status: oneOf(DELIVERY_STATUSES, OF_STATUS),
    event: oneOf(EVENT_NAMES, OF_EVENT),
    receiver: matching(RECEIVER_ID, { expected: A_RECEIVER, description: OF_RECEIVER }),
    client: text(OF_CLIENT),
    since: instantParameter('Only events that happened at this time or later.'),
    ...pageOf('deliveries'),
  },
  responses: { 200: json(deliveryList, 'A page of deliveries.') },
  examples: [
    {
      id: 'failed',
      summary: 'Failed deliveries',
      parameters: { status: 'failed' },
      status: 200,
      response: { deliveries: [], cursor: null },
    },
  ],

  async handle({ webhooks }: WebhookServices, { caller: { client }, query }) {
    const { receiver: receiverId, client: of, cursor, limit, ...filter } = query
    const before = positionIn(cursor)
    const selected = { ...filter, receiverId, before, ...checkedClient(client, of) }
    // One more than requested, to know whether there is a next page.
    const found = await webhooks.list({ ...selected, limit: limit + 1 })
    const page = found.slice(0, limit)
    const last = page.at(-1)
    const body: z.input<typeof deliveryList> = {
      deliveries: page.map((one) => shownDelivery(one, viewOf(client))),
      cursor: last && found.length > page.length ? cursorAt(positionOf(last)) : null,
    }
    return { json: body }
  },
})

export const getDelivery = endpoint({
  route: 'GET /v1/webhooks/deliveries/:id',
  id: 'getDelivery',
  tag: 'Webhooks',
  summary: 'Get one delivery, with its payload',
  access: { operatorOrSecret: 'read' },
  responses: { 200: json(deliveryWithPayload, 'The delivery.') },
  problems: ['404 delivery_not_found'],
  examples: [NO_DELIVERY],

  async handle({ webhooks }: WebhookServices, { caller: { client }, params: { id = '' } }) {
    const found = await webhooks.find(id, { clientId: client?.id })
    return { json: shownDeliveryWithPayload(found, viewOf(client)) }
  },
})

export const replayDelivery = endpoint({
  route: 'POST /v1/webhooks/deliveries/:id/replay',
  id: 'replayDelivery',
  tag: 'Webhooks',
  summary: 'Send a delivery again',
  description:
    'The request has the same `webhook-id` as before, so that the receiver can recognize a duplicate. It is retried like a new event.',
  access: { operatorOrSecret: 'manage' },
  limited: 'webhook',
  responses: { 202: json(webhookDelivery, 'The delivery is in the queue.') },
  problems: ['404 delivery_not_found', '409 receiver_removed'],
  audit: 'webhook.replay',
  examples: [NO_DELIVERY],

  async handle({ webhooks }: WebhookServices, { caller: { client }, params: { id = '' } }) {
    const replayed = await webhooks.replay(id, { clientId: client?.id })
    return { status: 202, json: shownDelivery(replayed, viewOf(client)) }
  },
})

export const replayDeliveries = endpoint({
  route: 'POST /v1/webhooks/replay',
  id: 'replayDeliveries',
  tag: 'Webhooks',
  summary: 'Send several deliveries again, oldest first',
  access: { operatorOrSecret: 'manage' },
  limited: 'webhook',
  body: webhookReplay,
  bodyMaxBytes: 1024,
  responses: { 202: json(replayReport, 'The deliveries are in the queue.') },
  audit: 'webhook.replay',
  examples: [
    {
      id: 'failed',
      summary: 'All failed deliveries since a time',
      body: { since: '2026-11-30T12:00:00Z', status: 'failed' },
      status: 202,
      response: { replayed: 0, skipped: 0 },
    },
  ],

  async handle({ webhooks }: WebhookServices, { caller: { client }, body, signal }) {
    const { since, status = 'failed', event, receiver: receiverId, client: of } = body
    const filter = { ...checkedClient(client, of), status, event, receiverId, since: Date.parse(since) }
    return { status: 202, json: await webhooks.replayAll(filter, signal) }
  },
})

/**
 * The client whose deliveries are selected. The operator may select any.
 *
 * @throws Problem 400 when a client selects itself or another one
 */
function checkedClient(own: Client | undefined, received: string | undefined): DeliveryFilter {
  if (own === undefined) return { clientId: received }
  if (received === undefined) return { clientId: own.id }
  throw badParameter({ param: 'client', expected: 'no value, except from the operator', received })
}

/** A cursor contains only the time and the ID of a delivery that the caller has received. */
function cursorAt(position: string): string {
  return Buffer.from(position).toString('base64url')
}

function positionIn(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined
  const position = Buffer.from(cursor, 'base64url').toString()
  if (/^\d{15}:[\w-]{1,100}$/.test(position)) return position
  throw badParameter({ param: 'cursor', expected: 'a cursor of an earlier response', received: cursor })
}
