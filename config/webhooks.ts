import { isEndpoint } from '../src/core/net/http-url.ts'
import { webhookKey } from '../src/core/signing/webhook-secret.ts'
import { privateRanges } from './address.ts'
import { integer, listOf, type Variable } from './variable.ts'

/** Webhooks, and the log of their deliveries. */
export const WEBHOOK_VARIABLES = {
  WEBHOOK_URL: listOf({
    separator: /\s+/,
    item: isEndpoint,
    expected: 'http or https URLs without user name, separated by spaces',
    secret: true,
    help: 'Webhook receivers: see docs/how-to/webhooks.md. Requires WEBHOOK_SECRET.',
  }),
  WEBHOOK_SECRET: listOf({
    separator: /\s+/,
    item: (text) => webhookKey(text) !== undefined,
    expected: 'whsec_ and 24 to 64 bytes in base64, or several of them separated by spaces',
    secret: true,
    help: 'Secret that signs webhooks, shared with the receiver. Set the new and the old one while you change it.',
  }),
  WEBHOOK_EVENTS: listOf({
    item: (text) => /^[a-z]+\.[a-z]+$/.test(text),
    expected: 'names of events, separated by spaces or commas',
    help: 'Event types to deliver. All types when unset.',
  }),
  WEBHOOK_ALLOW_ADDRESSES: privateRanges(
    'Private IP ranges that webhooks may be sent to. Private addresses are refused when unset.',
  ),
  WEBHOOK_LOG_ENTRIES: integer({
    min: 0,
    max: 100_000,
    unit: 'deliveries',
    default: 1000,
    help: 'Deliveries in the log of each webhook receiver. The oldest ones are dropped. 0: no log, and no replay.',
  }),
  WEBHOOK_LOG_SECONDS: integer({
    min: 60,
    max: 90 * 86_400,
    unit: 'seconds',
    default: 7 * 86_400,
    help: 'Retention of deliveries in the log of webhooks.',
  }),
} satisfies Record<string, Variable<unknown>>
