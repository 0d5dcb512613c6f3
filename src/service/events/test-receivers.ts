import type { Readable } from 'node:stream'
import { anySignal } from '../../core/async/any-signal.ts'
import { createPlaces } from '../../core/budgets/places.ts'
import { newEventStamp, TEST_EVENT } from '../../core/events.ts'
import type { Log } from '../../core/log.ts'
import { joinedMessages } from '../../core/log-reason.ts'
import type { TargetResponse } from '../../core/plugin-api/event-plugin.ts'
import type { Receiver } from '../../core/ports/events/delivery-log.ts'
import type { Fetcher } from '../../core/ports/fetcher.ts'
import { Problem } from '../../core/problem.ts'
import type { LoadedEventPlugin } from '../../pipeline/load/load.ts'
import { receiverOf } from './receiver.ts'

/** The outcome of a test event at one receiver. */
export interface ReceiverTest {
  receiver: Receiver
  /** Whether the receiver has accepted the event. */
  delivered: boolean
  /** Duration of the request in milliseconds. */
  ms: number
  /** The HTTP status of the response; absent without a response. */
  status?: number
  /** The beginning of the response's body, at most {@link BODY_MAX_BYTES} as text. */
  body?: string
  /** Why the event was not accepted, and what to do. */
  error?: string
}

/** The outcome of a test event. All receivers get the same event. */
export interface ReceiverTests {
  /** The id of the event, as receivers get it in `webhook-id`. */
  eventId: string
  /** In the order of the configuration. */
  receivers: readonly ReceiverTest[]
}

/**
 * Sends the event `webhook.test` to all receivers, at once and without retries.
 *
 * @param request `clientId`: the client that has requested the test; undefined for the operator
 * @throws Problem 409 without receivers, 429 while too many tests are in flight
 */
export type TestReceivers = (request: {
  clientId: string | undefined
  signal: AbortSignal
}) => Promise<ReceiverTests>

const BODY_MAX_BYTES = 1024
// A receiver may send its body slowly, or never. Its status is known by then.
const BODY_LIMIT_MS = 1000
// More than the time limit of a webhook, for plugins that have none.
const LIMIT_MS = 15_000
// A test takes up to 15 seconds. Callers must not be able to send any number of requests to a receiver, nor to take the places of
// other callers.
const AT_ONCE = 4
const AT_ONCE_IN_TOTAL = 32

export function createTestReceivers({
  plugins,
  fetcher,
  log,
}: {
  plugins: readonly LoadedEventPlugin[]
  fetcher: Fetcher
  log: Log
}): TestReceivers {
  const targets = plugins.flatMap((loaded) =>
    (loaded.targets.get(TEST_EVENT) ?? []).map((target) => ({ loaded, target })),
  )
  const places = createPlaces()

  return async ({ clientId, signal }) => {
    if (targets.length === 0) throw noReceiver()
    const taken = places.take([
      { name: `of ${clientId ?? ''}`, atMost: AT_ONCE },
      { name: 'total', atMost: AT_ONCE_IN_TOTAL },
    ])
    if ('full' in taken) throw tooManyTests(taken.full.atMost)
    const { signal: limited, leave } = anySignal([signal, AbortSignal.timeout(LIMIT_MS)])
    try {
      const stamp = newEventStamp()
      const send = async ({ loaded, target }: (typeof targets)[number]): Promise<ReceiverTest> => {
        const { plugin, options } = loaded
        const received: { status?: number; body?: string } = {}
        const report = async ({ status, body }: TargetResponse) => {
          received.status = status
          if (body) received.body = await beginningOf(body)
        }
        const began = performance.now()
        const context = { ...stamp, target, options, fetch: fetcher.fetch, report, signal: limited, log }
        // A receiver that wants no more events is stopped by a real event, not by a test.
        let stopReason: string | undefined
        const stop = (reason: string) => {
          stopReason = reason
        }
        const handled = async () =>
          plugin.on[TEST_EVENT]?.({ clientId: clientId ?? '' }, { ...context, stop })
        const error = await Promise.race([handled(), aborted(limited)]).then(() => stopReason, joinedMessages)
        const ms = Math.round(performance.now() - began)
        return {
          receiver: receiverOf(loaded, target),
          delivered: error === undefined,
          ms,
          ...received,
          ...(error === undefined ? {} : { error }),
        }
      }
      return { eventId: stamp.id, receivers: await Promise.all(targets.map(send)) }
    } finally {
      taken.giveBack()
      leave()
    }
  }
}

/** Rejects when the signal aborts: a handler may ignore it. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** Reads the beginning of a body. A body that fails or is slow ends early. */
async function beginningOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => body.destroy(), BODY_LIMIT_MS)
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= BODY_MAX_BYTES) break
    }
  } catch {
    // The part that was read is shown.
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(chunks).subarray(0, BODY_MAX_BYTES).toString()
}

function noReceiver(): Problem {
  return new Problem({
    status: 409,
    code: 'no_webhook_receiver',
    detail: 'No receiver is configured. Set WEBHOOK_URL and WEBHOOK_SECRET, then start Sluice again.',
  })
}

function tooManyTests(limit: number): Problem {
  return new Problem({
    status: 429,
    code: 'too_many_webhook_tests',
    detail: `At most ${limit} webhook tests run at the same time. Retry in a few seconds.`,
    members: { limit, retryAfterSeconds: 5 },
    headers: { 'Retry-After': '5' },
  })
}
