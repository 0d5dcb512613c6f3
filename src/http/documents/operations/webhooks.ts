import type { z } from 'zod'
import { EVENT_NAMES } from '../../../core/events.ts'
import { DELIVERY_STATUSES } from '../../../core/ports/events/delivery-log.ts'
import { webhookReplay } from '../../webhooks/request.ts'
import {
  webhookDelivery,
  webhookDeliveryList,
  webhookDeliveryWithPayload,
  webhookReceiverList,
  webhookReplayReport,
  webhookTest,
} from '../../wire/webhooks.ts'
import type { Endpoint, Success } from '../endpoint.ts'
import { pageParameters, query } from '../parameters.ts'

const json = (description: string, schema: z.ZodType): Success => ({
  description,
  content: { 'application/json': { schema } },
  headers: ['Cache-Control'],
})

/** Tests of webhook receivers, the log of deliveries, and replays. */
export const WEBHOOKS: readonly Endpoint[] = [
  {
    route: 'POST /v1/webhooks/test',
    id: 'testWebhooks',
    tag: 'Webhooks',
    summary: 'Send a test event to all receivers',
    description:
      'Sends the event `webhook.test` to each receiver at once, without retries and without an entry in the log of deliveries.',
    access: 'operator or secret',
    responses: { 200: json('The response of each receiver.', webhookTest) },
    examples: [{ id: 'off', summary: 'Without receivers', status: 409 }],
  },
  {
    route: 'GET /v1/webhooks/receivers',
    id: 'listReceivers',
    tag: 'Webhooks',
    summary: 'List the receivers and their events',
    access: 'operator or secret',
    responses: { 200: json('All receivers.', webhookReceiverList) },
    examples: [{ id: 'off', summary: 'Without receivers', status: 200, response: { receivers: [] } }],
  },
  {
    route: 'GET /v1/webhooks/deliveries',
    id: 'listDeliveries',
    tag: 'Webhooks',
    summary: 'List deliveries, the latest events first',
    description: 'With the secret of a client, the list has the events of this client.',
    access: 'operator or secret',
    parameters: [
      query('status', 'Only deliveries with this status.', { type: 'string', enum: DELIVERY_STATUSES }),
      query('event', 'Only events of this type.', { type: 'string', enum: EVENT_NAMES }),
      query('receiver', 'Only deliveries to the receiver with this ID.'),
      query('client', 'Only events of the client with this ID. For the operator.'),
      query('since', 'Only events that happened at this time or later.', {
        type: 'string',
        format: 'date-time',
      }),
      ...pageParameters('deliveries'),
    ],
    responses: { 200: json('A page of deliveries.', webhookDeliveryList) },
    examples: [
      {
        id: 'failed',
        summary: 'Failed deliveries',
        parameters: { status: 'failed' },
        status: 200,
        response: { deliveries: [], cursor: null },
      },
    ],
  },
  {
    route: 'GET /v1/webhooks/deliveries/:id',
    id: 'getDelivery',
    tag: 'Webhooks',
    summary: 'Get one delivery, with its payload',
    access: 'operator or secret',
    responses: { 200: json('The delivery.', webhookDeliveryWithPayload) },
    examples: [
      { id: 'none', summary: 'A delivery that does not exist', parameters: { id: 'evt_1-a' }, status: 404 },
    ],
  },
  {
    route: 'POST /v1/webhooks/deliveries/:id/replay',
    id: 'replayDelivery',
    tag: 'Webhooks',
    summary: 'Send a delivery again',
    description:
      'The request has the same `webhook-id` as before, so that the receiver can recognize a duplicate. It is retried like a new event.',
    access: 'operator or secret',
    responses: { 202: json('The delivery is in the queue.', webhookDelivery) },
    examples: [
      { id: 'none', summary: 'A delivery that does not exist', parameters: { id: 'evt_1-a' }, status: 404 },
    ],
  },
  {
    route: 'POST /v1/webhooks/replay',
    id: 'replayDeliveries',
    tag: 'Webhooks',
    summary: 'Send several deliveries again, oldest first',
    access: 'operator or secret',
    body: { 'application/json': { schema: webhookReplay } },
    responses: { 202: json('The deliveries are in the queue.', webhookReplayReport) },
    examples: [
      {
        id: 'failed',
        summary: 'All failed deliveries since a time',
        body: { since: '2026-11-30T12:00:00Z', status: 'failed' },
        status: 202,
        response: { replayed: 0, skipped: 0 },
      },
    ],
  },
]
