import { S3ServiceException } from '@aws-sdk/client-s3'
import { anySignal } from '../../../core/async/any-signal.ts'
import { problemOf } from './errors.ts'

/**
 * How long S3 may be silent. Whoever asks us is promised an answer within 5 s, whatever the state of the bucket, and a
 * failed put still has parts and files to clean up. A store at work says something every few hundred milliseconds; a
 * packet that is lost twice in a row costs 0.6 s.
 */
export const SILENCE_MS = 3500
// What it gets from those who ask within 5 s after somebody has waited in vain. The first answer ends that.
const SHORT_SILENCE_MS = 300
const SHORT_FOR_MS = 5000
const NEVER = Number.NEGATIVE_INFINITY

/** Waits for S3, and knows how long that makes sense. */
export interface Patience {
  /**
   * What `ask` is answered with; retries and the reading of the answer have to fit into the same time.
   *
   * @param withinMs how long in any case
   * @throws Problem as {@link problemOf} makes it; the signal's reason when that aborts
   */
  answered<T>(
    ask: (abortSignal: AbortSignal) => Promise<T>,
    options?: { signal?: AbortSignal | undefined; withinMs?: number },
  ): Promise<T>
  /** Watches over something that takes its time, as long as it moves. */
  watch(): Watch
}

export interface Watch {
  /** Aborts when nothing has moved for {@link SILENCE_MS}. */
  signal: AbortSignal
  moved(): void
  stop(): void
}

export function createPatience(): Patience {
  let lostAt = NEVER
  const patience = () => (Date.now() - lostAt < SHORT_FOR_MS ? SHORT_SILENCE_MS : SILENCE_MS)

  function watch(milliseconds = SILENCE_MS): Watch {
    const controller = new AbortController()
    const lost = () => {
      // Those who have waited shortly prove little: else one slow hour could prolong itself.
      if (milliseconds >= SILENCE_MS) lostAt = Date.now()
      controller.abort(new Error(`S3 has been silent for ${milliseconds} ms`))
    }
    const timer = setTimeout(lost, milliseconds)
    return { signal: controller.signal, moved: () => timer.refresh(), stop: () => clearTimeout(timer) }
  }

  return {
    watch: () => watch(),

    async answered(ask, { signal, withinMs = patience() } = {}) {
      signal?.throwIfAborted()
      const silence = watch(withinMs)
      const joined = anySignal(signal ? [signal, silence.signal] : [silence.signal])
      const over = joined.signal
      // The SDK passes the signal to its requests and retries, but not to its search for credentials.
      const aborted = new Promise<never>((_, reject) => {
        over.addEventListener('abort', () => reject(over.reason), { once: true })
      })
      try {
        const answer = await Promise.race([ask(over), aborted])
        lostAt = NEVER
        return answer
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
