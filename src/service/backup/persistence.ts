import { setTimeout } from 'node:timers/promises'
import type { Bucket } from '../../core/ports/bucket.ts'
import { isFileReplaced, Problem, STORAGE_FULL } from '../../core/problem.ts'
import { SealError } from '../../core/signing/seal.ts'
import { byBytes } from '../../core/text/byte-order.ts'
import { UnreadableSource } from './checked-bytes.ts'

/** How long to wait between the attempts of a step. Ten minutes in all: a run of many hours survives the restart of a store. */
export const PAUSES_MS: readonly number[] = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000]

export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<unknown>

/** How a step that may have to wait is interrupted. */
export interface Waiting {
  signal: AbortSignal
  /** Replaces the wait between attempts, in tests. */
  pause?: Pause | undefined
}

export const sleep: Pause = (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal })

/**
 * Whether a bucket was unavailable, or a file was replaced while it was read: the next attempt may succeed. A full bucket stays full,
 * a request that a store refuses is refused again, and credentials that cannot be decrypted stay so.
 */
export function isOutage(error: unknown): boolean {
  const problem = error instanceof UnreadableSource ? error.cause : error
  if (!(problem instanceof Problem) || problem.status !== 503 || problem.code === STORAGE_FULL) return false
  if (isFileReplaced(problem)) return true
  if (problem.cause instanceof SealError) return false
  const status = (problem.cause as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata
    ?.httpStatusCode
  return status === undefined || status >= 500 || status === 408 || status === 429
}

/**
 * Does a step, and repeats it while a bucket is unavailable. The step must be one that can begin again.
 *
 * @throws the error of the last attempt; `signal.reason`
 */
export async function persistently<T>(
  step: () => Promise<T>,
  { signal, pause = sleep }: Waiting,
): Promise<T> {
  for (const milliseconds of PAUSES_MS) {
    try {
      return await step()
    } catch (error) {
      signal.throwIfAborted()
      if (!isOutage(error)) throw error
    }
    await pause(milliseconds, signal)
  }
  return step()
}

/**
 * The lists of a bucket. While it is unavailable they wait, and then continue after the last key: a list of many hours survives the
 * restart of a store.
 *
 * @param options.isOwn whether it is a client's own bucket: while no object of it has been listed, a list fails at once. Such a bucket may be
 *   unavailable for months, and the other clients do not wait for it
 */
export function persistentLists(
  bucket: Bucket,
  { signal, pause = sleep, isOwn = false }: Waiting & { isOwn?: boolean },
): Pick<Bucket, 'listObjects'> {
  let hasListed = false
  return {
    async *listObjects(prefix, { after = '' } = {}) {
      let from = after
      for (let attempt = 0; ; attempt += 1) {
        const begin = from
        try {
          for await (const object of bucket.listObjects(prefix, { after: begin })) {
            // A store may ignore where a list begins.
            if (attempt > 0 && byBytes(object.key, begin) <= 0) continue
            from = object.key
            attempt = 0
            hasListed = true
            yield object
          }
          return
        } catch (error) {
          signal.throwIfAborted()
          const milliseconds = PAUSES_MS[attempt]
          if (!isOutage(error) || milliseconds === undefined || (isOwn && !hasListed)) throw error
          await pause(milliseconds, signal)
        }
      }
    },
  }
}
