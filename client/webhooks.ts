import { SluiceError } from './http/problem.ts'

/** A received webhook: a Request, or the headers and the raw body of another server's request. */
export type WebhookRequest =
  | Request
  | {
      headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
      /** The bytes as received: JSON that was parsed and serialized again has another signature. */
      body: string | Uint8Array
    }

/** An event: docs/reference/events.md. */
export interface WebhookEvent {
  /** The same for every attempt. Store it, and ignore an event with a stored id. */
  id: string
  /** For example `original.stored`. */
  type: string
  /** When the event happened, in ISO 8601. */
  timestamp: string
  data: Record<string, unknown>
}

const TOLERANCE_SECONDS = 300

/**
 * Checks the signature and the time of a webhook, and returns its event.
 *
 * @param secret WEBHOOK_SECRET of the service: `whsec_…`, or several with spaces between
 * @throws SluiceError `webhook_invalid`, with the status 401
 * @see https://www.standardwebhooks.com
 */
export async function verifyWebhook(
  request: WebhookRequest,
  secret: string,
  { now = Date.now }: { now?: () => number } = {},
): Promise<WebhookEvent> {
  const { id, at, signatures, body } = await partsOf(request)
  if (id === '' || signatures === '') throw invalid('The request has no webhook headers.')
  const ageSeconds = Math.abs(now() / 1000 - Number(at))
  if (!/^\d+$/.test(at) || ageSeconds > TOLERANCE_SECONDS)
    throw invalid(`The webhook is not from the last ${TOLERANCE_SECONDS} seconds.`)
  const signed = joined(new TextEncoder().encode(`${id}.${at}.`), body)
  const given = signatures
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => bytesOf(one.slice(3)))
  for (const one of secret.trim().split(/\s+/)) {
    const key = await crypto.subtle.importKey(
      'raw',
      secretBytes(one),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['verify'],
    )
    // Compares in constant time.
    for (const signature of given)
      if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed))) return eventOf(id, body)
  }
  throw invalid('The signature of the webhook is wrong.')
}

async function partsOf(request: WebhookRequest) {
  const { headers } = request
  const header = (name: string) => {
    if (typeof (headers as Headers).get === 'function') return (headers as Headers).get(name) ?? ''
    const value = (headers as Record<string, string | readonly string[] | undefined>)[name]
    return String(value ?? '')
  }
  return {
    id: header('webhook-id'),
    at: header('webhook-timestamp'),
    signatures: header('webhook-signature'),
    body: await bodyOf(request),
  }
}

async function bodyOf(request: WebhookRequest): Promise<Uint8Array<ArrayBuffer>> {
  if ('arrayBuffer' in request) return new Uint8Array(await request.arrayBuffer())
  const { body } = request
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array) return new Uint8Array(body)
  throw new TypeError('expected the raw body of the webhook, as text or bytes')
}

function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''))
  if (bytes && bytes.length > 0) return bytes
  throw new TypeError('expected a webhook secret of whsec_ and base64')
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(head.length + tail.length)
  all.set(head)
  all.set(tail, head.length)
  return all
}

function eventOf(id: string, body: Uint8Array): WebhookEvent {
  return { id, ...(JSON.parse(new TextDecoder().decode(body)) as Omit<WebhookEvent, 'id'>) }
}

function invalid(detail: string): SluiceError {
  return new SluiceError(detail, { status: 401, code: 'webhook_invalid', title: 'Unauthorized' })
}
