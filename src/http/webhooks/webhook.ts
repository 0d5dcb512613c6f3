import { z } from 'zod'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import type { ReceiverView } from '../../core/shown-delivery.ts'
import type { Webhooks } from '../../service/events/webhooks.ts'

/** The services of the endpoints for webhooks. */
export interface WebhookServices {
  webhooks: Webhooks
}

export const statusOfResponse = z
  .int()
  .describe('HTTP status of the response. Absent without a response.')
  .optional()

export const receiver = z
  .object({
    id: z.string().describe('ID of the receiver.'),
    name: z.string().describe('Host of the receiver. Only for the operator and the first client.').optional(),
  })
  .describe('A receiver of webhooks.')

/**
 * What a caller sees of receivers. They belong to the operator, whose own client is the first one: to other clients, their names and
 * the texts of their responses could reveal what is in the network of the operator.
 */
export function viewOf(client: Client | undefined): ReceiverView {
  return client === undefined || client.id === FIRST_CLIENT_ID ? 'all' : 'outcome'
}
