import { S3ServiceException } from '@aws-sdk/client-s3'
import { anySignal } from '../../../core/async/any-signal.ts'
import { problemOf } from './errors.ts'

/**
 * How long S3 may be silent by default, in milliseconds. Our clients get an answer within 5 s, whatever the state of the bucket, and
 * a failed put still has to clean up parts and files. A working store sends something every few hundred milliseconds. A
 * packet that is lost twice in a row costs 0.6 s.
 */
const SILENCE_MS = 3500
// The part of the time limit that requests have within 5 s after one has timed out: by default 300 ms. The first response ends this.
const SHORT_PART = 300 / 3500
const SHORT_FOR_MS = 5000
const NEVER = Number.NEGATIVE_INFINITY

/** Time limits for S3. They are shorter while S3 does not respond. */
export interface Patience {
  /** How long S3 may be silent, in milliseconds. */
  readonly silenceMs: number
  /**
   * The response to `ask`. Retries and reading the response count against the same time limit.
   *
   * @param options.withinMs a fixed limit, also during an outage
   * @throws Problem as {@link problemOf} creates it; the signal's reason when that aborts
   */
  responseOf<T>(
    ask: (abortSignal: AbortSignal) => Promise<T>,
    options?: { signal?: AbortSignal | undefined; withinMs?: number },
  ): Promise<T>
  /** Watches an operation of any length that must make progress. */
  watch(): Watch
}

/** A running check that an operation makes progress. */
export interface Watch {
  /** Aborts when nothing has moved for {@link Patience.silenceMs}. */
  signal: AbortSignal
  moved(): void
  stop(): void
}

/** Creates the time limits for one S3 store. Its clients share them. */
export function createPatience(silenceMs = SILENCE_MS): Patience {
  let lostAt = NEVER
  const patience = () => (Date.now() - lostAt < SHORT_FOR_MS ? silenceMs * SHORT_PART : silenceMs)

  function watch(milliseconds = silenceMs): Watch {
    const controller = new AbortController()
    const lost = () => {
      // Only a full wait proves an outage. Otherwise the short waits would prolong the short limits without end.
      if (milliseconds >= silenceMs) lostAt = Date.now()
      controller.abort(new Error(`S3 has been silent for ${milliseconds} ms`))
    }
    const timer = setTimeout(lost, milliseconds)
    return { signal: controller.signal, moved: () => timer.refresh(), stop: () => clearTimeout(timer) }
  }

  return {
    silenceMs,
    watch: () => watch(),

    async responseOf(ask, { signal, withinMs = patience() } = {}) {
      signal?.throwIfAborted()
      const silence = watch(withinMs)
      const joined = anySignal(signal ? [signal, silence.signal] : [silence.signal])
      const over = joined.signal
      // The SDK passes the signal to requests and retries, but not to its search for credentials.
      const aborted = new Promise<never>((_, reject) => {
        over.addEventListener('abort', () => reject(over.reason), { once: true })
      })
      try {
        const response = await Promise.race([ask(over), aborted])
        lostAt = NEVER
        return response
      } catch (error) {
        if (error instanceof S3ServiceException) lostAt = NEVER
        signal?.throwIfAborted()
        throw problemOf(over.aborted ? over.reason : error)
      } finally {
        silence.stop()
        joined.leave()
      }
    },
  }
}
