import { asProblem, remoteTimeout } from './refusals.ts'

/** The time limit and cancellation of one fetch. */
export interface Deadline {
  /** Aborts everything that the fetch has started. */
  signal: AbortSignal
  /** The error for the caller: the reason of the abort, else the error as a Problem. */
  failure(error: unknown): Error
  /** Limits work that does not support signals. @throws the reason of the abort, or Problem 504 after `limitMs` */
  within<T>(limitMs: number, work: Promise<T>): Promise<T>
  /** Aborts everything that is still running, with `error` as the reason. */
  abort(error: unknown): void
  /** Ends the time limit, when the fetch is complete. */
  over(): void
}

/** Starts the time limit. `signal` is the signal of the caller. */
export function startDeadline({
  timeoutMs,
  signal: caller,
}: {
  timeoutMs: number
  signal?: AbortSignal | undefined
}): Deadline {
  const controller = new AbortController()
  const { signal } = controller
  const timer = setTimeout(() => controller.abort(remoteTimeout()), timeoutMs)
  const leave = () => controller.abort(caller?.reason)
  if (caller?.aborted) leave()
  else caller?.addEventListener('abort', leave, { once: true })

  return {
    signal,
    failure: (error) => (signal.aborted ? signal.reason : asProblem(error)),
    within: (limitMs, work) =>
      new Promise((resolve, reject) => {
        const limit = setTimeout(() => reject(remoteTimeout()), limitMs)
        const aborted = () => reject(signal.reason)
        if (signal.aborted) aborted()
        signal.addEventListener('abort', aborted, { once: true })
        work.then(resolve, reject).finally(() => {
          clearTimeout(limit)
          signal.removeEventListener('abort', aborted)
        })
      }),
    abort: (error) => controller.abort(error),
    over() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', leave)
    },
  }
}
