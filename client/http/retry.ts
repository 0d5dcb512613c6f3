import { isBusy, retryAfterSeconds, SluiceError } from './problem.ts'
import { wait } from './wait.ts'

/** When a failed request is sent again. */
export interface RetryOptions {
  /** Whether the request has the same effect when it is received twice. */
  isIdempotent: boolean
  /** No attempt begins later than this after the start, or after the first failure. 0: no retries. */
  limitMs: number
  /** Whether the limit begins with the first failure. Default: false. */
  fromFailure?: boolean
  /** Whether a 429 or 503 with `Retry-After` is repeated. Default: true. */
  waits?: boolean | undefined
  signal?: AbortSignal | undefined
  /** Milliseconds of a clock that never goes back. */
  now?: () => number
  pause?: typeof wait
  random?: () => number
}

const FIRST_BACKOFF_MS = 250
const BACKOFF_MAX_MS = 10_000
// Without `Retry-After`.
const POLL_SECONDS = 2

/**
 * Repeats an attempt. A 429 or 503 with `Retry-After` is repeated after that time: Sluice has done nothing then. So is an attempt
 * whose predecessor, with the same `Idempotency-Key`, is still being executed. A lost connection, and a 502, 503 or 504 of a proxy, are repeated only for idempotent requests.
 *
 * @throws the error of the last attempt
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  {
    isIdempotent,
    limitMs,
    fromFailure,
    waits = true,
    signal,
    now = () => performance.now(),
    pause = wait,
    random = Math.random,
  }: RetryOptions,
): Promise<T> {
  let until = fromFailure ? undefined : now() + limitMs
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt()
    } catch (error) {
      until ??= now() + limitMs
      const delayMs = retryDelayMs(error, {
        isIdempotent,
        waits,
        backoffMs: backoffMs(failures, random),
      })
      if (delayMs === undefined || now() + delayMs > until) throw error
      await pause(delayMs, signal)
    }
  }
}

/** The time before the next attempt, with jitter, so that many clients do not come back at the same moment. */
export function backoffMs(failures: number, random = Math.random): number {
  return Math.min(BACKOFF_MAX_MS, FIRST_BACKOFF_MS * 2 ** failures) * (0.5 + random() / 2)
}

/** Waits until a result may be there, as `Retry-After` of the last response requests: a second at least, to poll in no busy loop. */
export function waitAsAsked({ headers }: Response, signal?: AbortSignal, pause = wait): Promise<void> {
  return pause(1000 * Math.max(1, retryAfterSeconds(headers.get('Retry-After')) ?? POLL_SECONDS), signal)
}

/** Undefined: the request must not be repeated. */
function retryDelayMs(
  error: unknown,
  {
    isIdempotent,
    waits,
    backoffMs,
  }: Pick<Required<RetryOptions>, 'isIdempotent' | 'waits'> & { backoffMs: number },
): number | undefined {
  if (!(error instanceof SluiceError)) return undefined
  const { status, retryAfter, problem, code } = error
  if (!waits && isBusy(error)) return undefined
  // At least the backoff: "Retry-After: 0" must not become a busy loop.
  if (retryAfter !== undefined && (isBusy(error) || code === 'request_conflict'))
    return Math.max(1000 * retryAfter, backoffMs)
  const isTransient = code === 'network' || (!problem && [502, 503, 504].includes(status))
  return isTransient && isIdempotent ? backoffMs : undefined
}
