import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { EVENT_NAMES, type EventName, TEST_EVENT } from '../../src/core/events.ts'
import { isEndpoint } from '../../src/core/net/http-url.ts'
import { isCidr } from '../../src/core/net/ip-ranges.ts'
import { defineEventPlugin, type EventContext } from '../../src/core/plugin-api/event-plugin.ts'
import { webhookKey } from '../../src/core/signing/webhook-secret.ts'
import { accessTo, refused, withRemedy } from './http.mts'

// A receiver that needs longer should queue the event, respond, and process it afterwards.
const TIMEOUT_MS = 10_000
const REMEDY = 'WEBHOOK_ALLOW_ADDRESSES'

/** One valid text, or a list of them. */
function texts<T extends string>(fits: (text: string) => boolean, expectation: string) {
  const text = z.custom<T>((value) => typeof value === 'string' && fits(value), expectation)
  return z.preprocess((value) => [value].flat(), z.array(text))
}

const settings = z
  .strictObject({
    /** Endpoints; each is notified separately. The plugin does nothing without any. */
    url: texts(isEndpoint, 'expected http or https URLs without user name for url'),
    /** Every secret signs: use several while receivers change to a new one. */
    secret: texts(
      (text) => webhookKey(text) !== undefined,
      'expected whsec_ and 24 to 64 bytes in base64 for secret',
    ),
    events: texts<EventName>(isEventName, `expected events to be among ${EVENT_NAMES.join(', ')}`),
    /** Address ranges that are not public but may be notified. */
    allowAddresses: texts(isCidr, 'expected ranges like 10.1.0.0/16 for allowAddresses'),
  })
  .refine(
    ({ url, secret }) => url.length === 0 || secret.length > 0,
    'expected a secret, since there is a url',
  )

/**
 * Sends events over HTTP, signed.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export default defineEventPlugin({
  name: 'webhook',
  durable: true,
  options: { url: [], secret: [], events: EVENT_NAMES, allowAddresses: [] },
  targets(name, options) {
    const { url, events } = read(options)
    return name === TEST_EVENT || events.includes(name) ? [...new Set(url)] : []
  },
  async check(options, { mayFetch }) {
    const { url, allowAddresses } = read(options)
    const outcomes = await Promise.allSettled(
      url.map((each) =>
        mayFetch(each, accessTo(each, allowAddresses)).catch((error) => {
          throw withRemedy(error, { url: each, variable: REMEDY })
        }),
      ),
    )
    const reasons = outcomes.flatMap((one) => (one.status === 'rejected' ? [String(one.reason.message)] : []))
    if (reasons.length > 0) throw new Error(reasons.join('; '))
  },
  on: Object.fromEntries(
    [...EVENT_NAMES, TEST_EVENT].map((name) => [
      name,
      (event: unknown, context: EventContext) => send(name as EventName, event, context),
    ]),
  ),
})

async function send(type: EventName, data: unknown, context: EventContext): Promise<void> {
  const { id, occurredAt, target, options, fetch, stop, report, signal } = context
  const { secret, allowAddresses } = read(options)
  const { host } = new URL(target)
  const payload = JSON.stringify({ type, timestamp: occurredAt.toISOString(), data })
  // The time of this attempt, not of the event: receivers reject timestamps that are minutes old.
  const timestamp = Math.floor(Date.now() / 1000)
  const { status, body } = await fetch({
    url: target,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': secret.map((each) => sign(each, `${id}.${timestamp}.${payload}`)).join(' '),
    },
    body: payload,
    signal,
    timeoutMs: TIMEOUT_MS,
    // At most the beginning of the body is read, so its length does not matter. Only the status counts.
    maxBytes: Number.MAX_SAFE_INTEGER,
    access: accessTo(target, allowAddresses),
  }).catch((error) => {
    throw withRemedy(error, { url: target, variable: REMEDY })
  })
  await report({ status, body })
  body.destroy()
  if (status === 410) stop(`${host} responded with 410`)
  else if (status < 200 || status > 299) throw refused(`${host} responded with ${status}`)
}

function sign(secret: string, content: string): string {
  const key = webhookKey(secret) as Buffer // `read` has validated it.
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

function read(options: unknown) {
  const { data, error } = settings.safeParse(options)
  if (error) throw new Error([...new Set(error.issues.map(({ message }) => message))].join('; '))
  return data
}

function isEventName(text: string): boolean {
  return (EVENT_NAMES as readonly string[]).includes(text)
}
