import { z } from 'zod'
import { EVENT_NAMES, type EventName } from '../../core/events.ts'
import { DELIVERY_STATUSES } from '../../core/ports/events/delivery-log.ts'
import { instant } from './record.ts'

const status = z.int().describe('HTTP status of the response. Absent without a response.').optional()

const receiver = z
  .object({
    id: z.string().describe('ID of the receiver.'),
    name: z.string().describe('Host of the receiver. Only for the operator and the first client.').optional(),
  })
  .describe('A receiver of webhooks.')

/** All receivers. */
export const webhookReceiverList = z
  .object({
    receivers: z.array(
      z.object({
        ...receiver.shape,
        events: z
          .array(z.enum(EVENT_NAMES as [EventName, ...EventName[]]))
          .describe('Types of the events that it gets.'),
      }),
    ),
  })
  .describe('The receivers that WEBHOOK_URL and plugins configure.')

/** The outcome of a test event. */
export const webhookTest = z
  .object({
    eventId: z.string().describe('ID of the event, the `webhook-id` of its requests.'),
    receivers: z.array(
      z.object({
        receiver,
        delivered: z.boolean().describe('Whether the receiver has responded with a 2xx status.'),
        ms: z.int().describe('Duration of the request in milliseconds.'),
        status,
        body: z
          .string()
          .describe('First 1024 bytes of the response body. Only for the operator and the first client.')
          .optional(),
        error: z.string().describe('Why the event was not delivered.').optional(),
      }),
    ),
  })
  .describe('The response of each receiver to a test event.')

/** One call of a receiver. */
export const deliveryAttempt = z
  .object({
    at: instant('When the request began.'),
    ms: z.int().describe('Duration in milliseconds.'),
    status,
    error: z.string().describe('Why the attempt has failed. Absent when the event was delivered.').optional(),
  })
  .describe('One attempt to deliver an event.')

/** A delivery in a list. */
export const webhookDelivery = z
  .object({
    id: z.string().describe('ID of the delivery.'),
    event: z.string().describe('Type of the event: `original.stored`.'),
    eventId: z.string().describe('ID of the event, the `webhook-id` of its requests.'),
    clientId: z.string().describe('ID of the client of the event.'),
    receiver,
    status: z.enum(DELIVERY_STATUSES).describe('`failed`: no further attempt follows.'),
    occurredAt: instant('When the event happened.'),
    attempts: z.array(deliveryAttempt).describe('The latest 33 attempts, oldest first.'),
    nextAttemptAt: instant('Earliest time of the next attempt, if one follows.').optional(),
  })
  .describe('The delivery of an event to a receiver.')

/** A page of deliveries. */
export const webhookDeliveryList = z
  .object({
    deliveries: z.array(webhookDelivery),
    cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
  })
  .describe('A page of deliveries, the latest events first.')

/** A delivery with the JSON that the receiver gets. */
export const webhookDeliveryWithPayload = z
  .object({
    ...webhookDelivery.shape,
    payload: z
      .object({
        type: z.string(),
        timestamp: instant('When the event happened.'),
        data: z.record(z.string(), z.unknown()).describe('Fields of the event.'),
      })
      .describe('JSON that the receiver gets.'),
  })
  .describe('A delivery and its payload.')

/** The outcome of a replay of several deliveries. */
export const webhookReplayReport = z
  .object({
    replayed: z.int().describe('Number of deliveries that are sent again.'),
    skipped: z.int().describe('Number of deliveries whose receiver is no longer configured.'),
  })
  .describe('The number of replayed deliveries.')

export type WebhookReceiverList = z.input<typeof webhookReceiverList>
export type WebhookTest = z.input<typeof webhookTest>
export type WebhookDeliveryList = z.input<typeof webhookDeliveryList>
