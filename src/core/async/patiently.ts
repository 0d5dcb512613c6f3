import { setTimeout as pause } from 'node:timers/promises'

/**
 * Repeats work until it succeeds.
 *
 * @param options.tries how often it is tried, from 1
 * @param options.retryMs the pause before the second try, in milliseconds. Each further one is twice as long
 * @param options.isFinal whether a repetition after this error would be in vain
 * @throws the error of the last try; `signal.reason`
 */
export async function patiently<T>(
  work: () => Promise<T>,
  {
    tries,
    retryMs,
    signal,
    isFinal,
  }: {
    tries: number
    retryMs: number
    signal?: AbortSignal | undefined
    isFinal: (error: unknown) => boolean
  },
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work()
    } catch (error) {
      signal?.throwIfAborted()
      if (failures + 1 >= tries || isFinal(error)) throw error
      await pause(retryMs * 2 ** failures, undefined, signal ? { signal } : {}).catch(() => {})
      signal?.throwIfAborted()
    }
  }
}
