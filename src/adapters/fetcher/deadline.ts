import { asProblem, remoteTimeout } from './refusals.ts'

/** The end of one fetch: its time is over, its caller has left, or it has failed. */
export interface Deadline {
  /** Aborts all that the fetch has begun. */
  signal: AbortSignal
  /** What a failure is for the caller: what the fetch was aborted with, else a Problem. */
  failure(error: unknown): Error
  /** Waits for something that knows no signal. */
  within<T>(limitMs: number, work: Promise<T>): Promise<T>
  /** Ends what is still running, because of `error`. */
  abort(error: unknown): void
  /** All is done: the time no longer matters. */
  over(): void
}

/** Begins to count `timeoutMs`; `signal` is that of the caller, who may leave before. */
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
